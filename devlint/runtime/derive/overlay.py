"""Handwritten cells of the semantics table, each with a reason, that are merged over the derived ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]
"""The cells of one row of the semantics table, by field name."""
OVERRIDES = Path(__file__).with_name("overrides.json")
"""The file of the handwritten cells."""
_APART = frozenset({"host", "index", "free"})
"""Cells that exclude each other: a handwritten one replaces all of them."""


@cache
def overlay() -> dict[str, Any]:
    """Return the contents of the file of handwritten cells."""
    loaded: dict[str, Any] = json.loads(OVERRIDES.read_text())
    return loaded


def apply_overlay(rows: dict[str, Row], chosen: Callable[[str], bool]) -> None:
    """Merge the handwritten cells over the derived table rows; null removes a cell."""
    for name, cells in overlay()["rows"].items():
        if not chosen(name):
            continue
        row = rows.setdefault(name, {})
        if cells.keys() & _APART:
            row = rows[name] = {field: value for field, value in row.items() if field not in _APART}
        for field, value in cells.items():
            if field == "reason":
                continue
            if value is None:
                row.pop(field, None)
            elif field == "module":
                row["module"] = {**row.get("module", {}), **value}
            else:
                row[field] = value
        written = dict.fromkeys((field for field in cells if field != "reason"), "hand")
        row["provenance"] = row.get("provenance", {"*": "hand"}) | written
