"""Operators on constants and numbers: folded constants, and the Python types of the results."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

from devlint.domain.path_conditions import conjunction, disjunction
from devlint.domain.value import UNKNOWN, Const, Number, StringPrefix, SymbolicBool, Value

_FUNCTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
"""The functions that compute operators on constants, by the names in SPECIAL_METHOD_OF_OPERATOR."""

_BITWISE: Final = frozenset({"and", "or", "xor"})
"""The operators whose result on two bools is a bool."""

MAX_CONSTANT: Final = 10**9
"""The absolute value up to which arithmetic on constants is computed; placement does not depend on larger numbers."""


def fold_constants(method: str, left: Const, right: Const) -> Value:
    """Return the value of an operator applied to two constants.

    The value is a constant if it is small, otherwise a number or string of unknown value. It is unknown if Python would
    raise an exception.
    """
    function = _FUNCTIONS.get(method)
    if function is None:
        return Number()
    try:
        result = function(left.value, right.value)
    except Exception:  # whatever Python raises here, the program would
        return UNKNOWN
    if isinstance(result, str):
        return Const(result) if len(result) < 200 else StringPrefix()
    if isinstance(result, (int, float)):
        return Const(result) if abs(result) < MAX_CONSTANT else Number(type(result).__name__)
    return UNKNOWN


def combine_bools(method: str, left: Value, right: Value) -> SymbolicBool | None:
    """Return `left & right` or `left | right` of two conditions as one condition; None for any other values."""
    if not isinstance(left, SymbolicBool) or not isinstance(right, SymbolicBool):
        return None
    match method:
        case "and":
            return SymbolicBool(conjunction(left.test, right.test))
        case "or":
            return SymbolicBool(disjunction(left.test, right.test))
    return None


def result_kind(method: str, left: Value, right: Value) -> str | None:
    """Return the name of the Python type of an operator's result on two numbers (such as "float"); None if unknown."""
    kinds = {_operand_kind(left), _operand_kind(right)}
    if method in _BITWISE and kinds == {"bool"}:
        return "bool"
    if "float" in kinds or method == "truediv":
        return "float" if None not in kinds or "float" in kinds else None
    return "int" if kinds <= {"int", "bool"} else None


def _operand_kind(value: Value) -> str | None:
    """Return the name of the Python type of a number or constant (such as "int"); None if unknown."""
    match value:
        case Number(kind=kind):
            return kind
        case Const(value=constant):
            return type(constant).__name__
        case SymbolicBool():
            return "bool"
    return None
