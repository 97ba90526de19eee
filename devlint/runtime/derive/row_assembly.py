"""Assembly of all rows of devlint's semantics table of torch: functions, methods and module classes.

Handwritten cells replace the derived ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from devlint.runtime.derive import callable_rows, device_cells, module_rows, public_names, wait_cells
from devlint.runtime.derive.callable_rows import DerivedRow, Row
from devlint.runtime.derive.overlay import apply_overlay
from devlint.runtime.derive.probe_device import REAL, probe_accelerator
from devlint.semantics.cell_sources import exceptional_sources

FIELDS = (
    "params overloads tensors numbers same scalars host index free device returns returns_if dtype dtype_if match"
    " match_or_half index_dtypes target_dtypes rank mutates view may_view sync random grad factory numpy property"
    " special module provenance"
).split()
"""The fields of a table row in the order of the data file."""


def normalized_row(row: Row) -> Row:
    """Return a semantics-table row with its cells in the data file's order and without cells of default value."""
    row = {**row, "provenance": exceptional_sources(row["provenance"])}
    kept = {f: row[f] for f in FIELDS if f in row and row[f] not in ([], {}, None, False, "", 0)}
    if kept.get("device") == "group":
        del kept["device"]
    if kept.get("returns") == "tensor":
        del kept["returns"]
    for cell in ("dtype", "rank"):
        if kept.get(cell) == "unknown":
            del kept[cell]
    return kept


def add_device_cells(derived: dict[str, DerivedRow], source: str) -> dict[str, Row]:
    """Return the derived rows of the semantics table with the device cells, which calls on an accelerator show.

    ``source`` says whether the accelerator is real or emulated. A real one also shows which calls wait for the device.
    """
    placed = {}
    for name, (row, studied) in derived.items():
        placed[name] = row
        if studied is not None and not row.get("factory"):
            found = device_cells.cells(studied) | (wait_cells.cells(studied) if source == REAL else {})
            kept = {field: value for field, value in found.items() if field not in row}
            sources = dict.fromkeys(kept, source)
            placed[name] = {**row, **kept, "provenance": row["provenance"] | sources}
    return placed


def derive_rows(chosen: Callable[[str], bool] = lambda name: True) -> dict[str, Row]:
    """Derive the semantics-table rows of the torch names that ``chosen`` accepts, and return them sorted by name.

    Handwritten cells replace the derived ones.
    """
    callables = {**public_names.functions(), **public_names.methods()}
    derived = {name: callable_rows.derive_row(name, function) for name, function in callables.items() if chosen(name)}
    derived |= {name: module_rows.derive_row(name) for name in module_rows.module_classes() if chosen(name)}
    with probe_accelerator() as source:
        found = add_device_cells(derived, source)
    apply_overlay(found, chosen)
    for name in found:
        twin = f"torch.Tensor.{name.removeprefix('torch.')}"
        if name.endswith("_") and twin in found:
            found[name] = _function_row(found[twin])
    return {name: normalized_row(found[name]) for name in sorted(found)}


def _function_row(row: Row) -> Row:
    """Return the semantics-table row of an in-place function such as ``torch.relu_``, given the tensor method's row.

    The two rows are equal, but the first parameter is called ``input`` instead of ``self``.
    """
    renamed: Row = json.loads(re.sub(r'"((?:same|real|arg|kwarg-or):)?self"', r'"\1input"', json.dumps(row)))
    return {**renamed, "returns": row["returns"]}


def format_table(data: dict[str, Any]) -> str:
    """Return the text of the data file ``devlint/semantics/torch.json`` for these contents.

    Each row, alias or coverage figure takes one line, sorted by key.
    """
    lines = ["{", *(f'"{title}": {json.dumps(data[title])},' for title in ("version", "usual", "argument_aliases"))]
    for title in ("coverage", "aliases", "rows"):
        lines.append(f'"{title}": {{')
        lines += [f"{json.dumps(key)}: {json.dumps(value)}," for key, value in sorted(data[title].items())]
        lines[-1] = lines[-1].removesuffix(",")
        lines.append("}," if title != "rows" else "}")
    return "\n".join([*lines, "}", ""])
