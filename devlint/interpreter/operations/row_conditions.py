"""Conditions of a semantics table's row on the arguments of a call, such as those of `dtype_if` and `device_if`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from devlint.domain.value import NONE, Const
from devlint.interpreter.state.arguments import BoundArguments
from devlint.semantics.argument_conditions import ArgumentCondition, parse_conditions

T = TypeVar("T")
"""What a row gives under a condition: a device, dtype or return rule."""


def is_passed(bound: BoundArguments, name: str) -> bool:
    """Return whether a call passes an argument with a value other than None and False."""
    return bool(bound.get(name)) and bound[name][0].value not in (NONE, Const(False))


def select_by_condition(
    bound: BoundArguments, by_condition: Mapping[str, T], otherwise: T, *, complete: bool = True
) -> T | None:
    """Return the value that a semantics table row lists for the first condition that a call's arguments meet.

    `otherwise` if they meet no condition, None when a condition cannot be decided. `complete` is whether all arguments
    of the call are known.
    """
    for condition, value in by_condition.items():
        verdicts = [_is_condition_met(bound, demand, complete=complete) for demand in parse_conditions(condition)]
        if None in verdicts and False not in verdicts:
            return None
        if all(verdicts):
            return value
    return otherwise


def _is_condition_met(bound: BoundArguments, demand: ArgumentCondition, *, complete: bool) -> bool | None:
    """Return whether the arguments of a library call meet one condition of a table row, such as that `dim` is given.

    None when the arguments that decide it are not known.
    """
    if demand.absent:
        return not is_passed(bound, demand.name) and (complete or None)
    if demand.value is None:
        return is_passed(bound, demand.name)
    if not bound.get(demand.name):
        return False if complete else None
    value = bound[demand.name][0].value
    return str(value.value) == demand.value if isinstance(value, Const) else None
