"""Coverage of devlint's semantics table of torch: which public torch callables it describes, and which not."""

from __future__ import annotations

from typing import Any

from torch import overrides

from devlint.runtime.derive import module_rows, public_names
from devlint.semantics.cell_sources import count_cells_by_source

Row = dict[str, Any]
"""The cells of one row of the semantics table, by field name."""


def overridable_names() -> list[str]:
    """Return the canonical names of all torch functions that ``torch.overrides.get_overridable_functions()`` lists."""
    found: dict[str, None] = {}
    for group in overrides.get_overridable_functions().values():
        for function in group:
            name = overrides.resolve_name(function) or ""
            found[public_names.aliases().get(name, name).removesuffix(".__get__").removesuffix(".__set__")] = None
    return list(found)


def is_described(row: Row | None) -> bool:
    """Return whether a row of the semantics table says enough about a callable to predict its results.

    The row must say which kind of value comes out and, for tensors, the rules for dtype and device.
    """
    if row is None:
        return False
    if row.get("special"):
        return True
    form = row.get("returns", "tensor")
    if form == "unknown" or row.get("device") == "unknown":
        return False
    return "dtype" in row or not form.startswith(("tensor", "self", "list", "tuple", "nested"))


def summary(rows: dict[str, Row]) -> dict[str, Any]:
    """Return figures on devlint's semantics table of torch for its data file.

    "counts" holds the numbers of described torch functions and module classes and of rows, "cells" the number of cells
    from each source, and "unknown" the names of the torch callables that the table does not describe.
    """
    groups = {"overridable functions": overridable_names(), "torch.nn modules": list(module_rows.module_classes())}
    counts: dict[str, Any] = {}
    unknown: set[str] = set()
    for title, wanted in groups.items():
        missing = [name for name in wanted if not is_described(rows.get(name))]
        counts[title] = [len(wanted) - len(missing), len(wanted)]
        unknown |= set(missing)
    counts["rows"] = len(rows)
    by_hand = ("hand" in row.get("provenance", {}).values() for row in rows.values())
    counts["rows with a hand-written cell"] = sum(by_hand)
    counts["modelled by hand in the interpreter"] = sum("special" in row for row in rows.values())
    return {"counts": counts, "cells": count_cells_by_source(rows), "unknown": sorted(unknown)}
