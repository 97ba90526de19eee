"""Sources of the facts in devlint's semantics tables: how each cell of a row was found, such as by a call on the CPU.

Each kind of cell has a usual source. A row names a source only where it is another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

SOURCES: Final[Mapping[str, str]] = {
    "yaml": "the schemas and tags in torch's native_functions.yaml",
    "inspect": "the signature or the name of a function written in Python",
    "probe-cpu": "what small calls did on the CPU",
    "emulated": "what small calls did on the emulated accelerator",
    "fake": "what FakeTensorMode did",
    "gpu": "what small calls did on a CUDA device",
    "hand": "written by hand, with the reason beside it",
}
"""The sources that a cell can have, with their meaning."""

ALL_OTHER_CELLS: Final = "*"
"""The key for all cells that a row's `provenance` does not name."""

_USUAL: Final[Mapping[str, str]] = {
    "yaml": "params overloads tensors numbers sync random",
    "inspect": "factory",
    "probe-cpu": (
        "returns returns_if dtype dtype_if match match_or_half index_dtypes target_dtypes rank mutates view may_view"
        " grad property module"
    ),
    "emulated": "same scalars host index free device",
    "hand": "special numpy",
}
USUAL_SOURCES: Final[Mapping[str, str]] = {cell: source for source, cells in _USUAL.items() for cell in cells.split()}
"""The usual source of each cell."""

Cells = Mapping[str, Any]


def source_of(cell: str, cells: Cells) -> str:
    """Return the source of one cell of a semantics-table row: the one the row states, else the cell's usual one."""
    stated: Mapping[str, str] = cells.get("provenance", {})
    return stated.get(cell) or stated.get(ALL_OTHER_CELLS) or USUAL_SOURCES[cell]


def exceptional_sources(sources: Mapping[str, str]) -> dict[str, str]:
    """Return the shortest form of the cell `provenance` of a semantics-table row, given the sources of its cells.

    Cells whose source is the usual one for their kind are left out.
    """
    rest = sources.get(ALL_OTHER_CELLS)
    named = {cell: source for cell, source in sources.items() if cell != ALL_OTHER_CELLS}
    kept = {cell: source for cell, source in named.items() if source != (rest or USUAL_SOURCES[cell])}
    return ({ALL_OTHER_CELLS: rest} if rest else {}) | dict(sorted(kept.items()))


def count_cells_by_source(rows: Mapping[str, Cells]) -> dict[str, int]:
    """Return the number of cells in these rows of a semantics table that come from each source, such as "hand"."""
    counted = Counter(source_of(cell, cells) for cells in rows.values() for cell in cells if cell != "provenance")
    return {source: counted[source] for source in SOURCES if counted[source]}
