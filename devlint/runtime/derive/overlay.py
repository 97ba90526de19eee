"""Handwritten cells of devlint's semantics table of torch, which replace or complete the derived cells.

They are kept in ``overrides.json``, each row with a reason.
"""

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
    """Return the content of ``overrides.json``, the file of handwritten cells of the semantics table."""
    loaded: dict[str, Any] = json.loads(OVERRIDES.read_text())
    return loaded


def apply_overlay(rows: dict[str, Row], chosen: Callable[[str], bool]) -> None:
    """Write the handwritten cells into the derived rows of the semantics table, in place.

    A handwritten null removes the derived cell. Only rows whose names ``chosen`` accepts are changed.
    """
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
