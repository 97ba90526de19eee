"""Comparisons of constants, and the narrowing of conditional values by a comparison with a constant."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.path_conditions import Literal, conditional
from devlint.domain.value import ConditionalValue, Const, Number, SymbolicBool, Value
from devlint.interpreter.state.device_facts import ACCELERATOR_INDEX

_COMPARISONS: Final[dict[type, Callable[[Any, Any], bool]]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}
"""The functions that compute comparison operators, by libcst operator type."""


def compare_constants(comparison: cst.BaseCompOp, left: Const, right: Const) -> bool | None:
    """Return the result of comparing two constants.

    The result is None if Python raises TypeError, and for the operators `is` and `in`.
    """
    compare = _COMPARISONS.get(type(comparison))
    if compare is None:
        return None
    try:
        return bool(compare(left.value, right.value))
    except TypeError:
        return None


def compare_choice(comparison: cst.BaseCompOp, value: Value, constant: Const) -> Literal | bool | None:
    """Return the condition of comparing a bool or a choice between constants with a constant.

    `flag > 0` is the flag itself. The result is None for any other value, and where an alternative decides nothing.
    """
    match value:
        case Const():
            return compare_constants(comparison, value, constant)
        case Number():
            return compare_index(comparison, value, constant)
        case SymbolicBool(test=test):
            yes, no = (compare_constants(comparison, Const(one), constant) for one in (True, False))
            return conditional(test, yes, no) if yes is not None and no is not None else None
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            sides = [compare_choice(comparison, one, constant) for one in (yes, no)]
            return conditional(test, sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None
    return None


def compare_index(comparison: cst.BaseCompOp, value: Number, constant: Const) -> bool | None:
    """Return the result of comparing the index of an accelerator, which is never negative, with a constant.

    The result is None for any other number, and where some indices give another result than others.
    """
    match value, constant:
        case Number(origin=(kind, *_)), Const(value=int(number)) if kind == ACCELERATOR_INDEX and number <= 0:
            ends = {compare_constants(comparison, Const(index), constant) for index in (0, math.inf)}
            return ends.pop() if len(ends) == 1 else None
    return None


def restrict_to_comparison(value: Value, comparison: cst.BaseCompOp, constant: Const, *, holds: bool) -> Value | None:
    """Return the alternatives of a conditional value for which a comparison with a constant may have one outcome.

    `holds` tells which outcome: the comparison holds, or fails. The result is None if no alternative is left.
    """
    match value:
        case ConditionalValue(test=test, yes=yes, no=no):
            sides = [restrict_to_comparison(one, comparison, constant, holds=holds) for one in (yes, no)]
            if sides[0] is None or sides[1] is None:
                return sides[0] or sides[1]
            return value if sides == [yes, no] else join(sides[0], sides[1], test)
        case Const():
            return None if compare_constants(comparison, value, constant) is (not holds) else value
        case Number():
            return None if compare_index(comparison, value, constant) is (not holds) else value
    return value
