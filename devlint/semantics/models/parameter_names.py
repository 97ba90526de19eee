"""Check of model files: every parameter that a cell of a row names must be a parameter of the function of that row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from devlint.semantics.argument_conditions import parse_conditions
from devlint.semantics.models.schema_check import SchemaProblem

PARAMETERS: Final = "parameters"
"""The name that stands for a module's own tensors, which every row may use."""

_LISTS: Final = ("tensors", "same", "host", "index", "free", "mutates", "moves")
_TABLES: Final = ("index_dtypes", "target_dtypes")
_GROUPS: Final = ("match", "match_or_half")
_RULES: Final = ("device", "dtype", "rank")
_BY_ARGUMENT: Final = ("returns_if", "dtype_if", "device_if")


def first_unknown_parameter(data: Mapping[str, Any]) -> SchemaProblem | None:
    """Return a problem for the first cell of a model file that names a parameter which its row's function lacks.

    Returns None if there is no such cell.
    """
    for section in ("rows", "conventions"):
        for row, own in data.get(section, {}).items():
            cells = {**data.get("rows", {}).get(own.get("like"), {}), **own}
            known = {name.lstrip("*") for name in cells.get("params", ())} | {PARAMETERS}
            for cell, name in _mentioned_parameters(cells):
                if name not in known:
                    return SchemaProblem(f"{section}.{row}.{cell}", f"`{name}` is not one of the row's params")
    return None


def _mentioned_parameters(cells: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield (cell, parameter) for every parameter name that occurs in the cells of a semantics-table row."""
    for cell in _LISTS:
        yield from ((cell, name.removesuffix("[]")) for name in cells.get(cell, ()))
    for cell in _TABLES:
        yield from ((cell, name) for name in cells.get(cell, {}))
    for cell in _GROUPS:
        yield from ((cell, name) for group in cells.get(cell, ()) for name in group)
    for cell in ("view", "may_view"):
        if cell in cells:
            yield cell, cells[cell]
    for cell in _RULES:
        yield from ((cell, name) for name in _parameters_in_rule(cells.get(cell, "")))
    kind, _, names = cells.get("returns", "").partition(":")
    if kind == "arguments":
        yield from (("returns", name) for name in names.split(","))
    for cell in _BY_ARGUMENT:
        for condition in cells.get(cell, {}):
            yield from ((cell, demand.name) for demand in parse_conditions(condition))


def _parameters_in_rule(rule: str | list[str]) -> Iterator[str]:
    """Yield the parameter names in a device, dtype or rank rule such as `same:NAME` or `kwarg-or:NAME`."""
    for one in [rule] if isinstance(rule, str) else rule:
        kind, _, names = one.partition(":")
        if names and kind != "kwarg":
            yield from names.split(",")
