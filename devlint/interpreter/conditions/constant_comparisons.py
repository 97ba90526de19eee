"""Comparisons of constants, and what they leave of several."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.value import ConditionalValue, Const, Value

_COMPARED: Final[dict[type, Callable[[Any, Any], bool]]] = {
    cst.Equal: operator.eq,
    cst.NotEqual: operator.ne,
    cst.LessThan: operator.lt,
    cst.LessThanEqual: operator.le,
    cst.GreaterThan: operator.gt,
    cst.GreaterThanEqual: operator.ge,
}


def compare_constants(comparison: cst.BaseCompOp, left: Const, right: Const) -> bool | None:
    """The answer of a comparison; None where it fails, or is another kind of question."""
    compare = _COMPARED.get(type(comparison))
    if compare is None:
        return None
    try:
        return bool(compare(left.value, right.value))
    except TypeError:
        return None


def alternatives_left_by(value: Value, comparison: cst.BaseCompOp, constant: Const, *, holds: bool) -> Value | None:
    """What a value may still be where its comparison with a constant holds, or fails; None where nothing is left."""
    match value:
        case ConditionalValue(test=test, yes=yes, no=no):
            sides = [alternatives_left_by(one, comparison, constant, holds=holds) for one in (yes, no)]
            if sides[0] is None or sides[1] is None:
                return sides[0] or sides[1]
            return value if sides == [yes, no] else join(sides[0], sides[1], test)
        case Const():
            return None if compare_constants(comparison, value, constant) is (not holds) else value
    return value
