"""Whether a row's condition on the arguments holds: `dim`, `return_inverse+return_counts`, `return_tensors=pt`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from devlint.flow.operands import Bound
from devlint.values.value import NONE, Const

T = TypeVar("T")


def is_given(bound: Bound, name: str) -> bool:
    """Whether an argument is given, and not as None or False."""
    return bool(bound.get(name)) and bound[name][0].value not in (NONE, Const(False))


def chosen(bound: Bound, by_condition: Mapping[str, T], otherwise: T, *, complete: bool = True) -> T | None:
    """What stands under the first condition that holds, or `otherwise`; None where one cannot be decided."""
    for condition, value in by_condition.items():
        holds = _holds(bound, condition, complete=complete)
        if holds is None:
            return None
        if holds:
            return value
    return otherwise


def _holds(bound: Bound, condition: str, *, complete: bool) -> bool | None:
    verdicts = [_one_holds(bound, part, complete=complete) for part in condition.split("+")]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _one_holds(bound: Bound, condition: str, *, complete: bool) -> bool | None:
    name, equals, wanted = condition.partition("=")
    if not equals:
        return is_given(bound, name)
    if not bound.get(name):
        return False if complete else None
    value = bound[name][0].value
    return str(value.value) == wanted if isinstance(value, Const) else None
