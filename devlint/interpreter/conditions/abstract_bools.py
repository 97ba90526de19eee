"""Abstract bools: constants, conditions and unknown bools, and what negation and choice make of them."""

from __future__ import annotations

import libcst as cst

from devlint.domain.join import join
from devlint.domain.path_conditions import Atom, Literal, conditional
from devlint.domain.value import Const, Number, SymbolicBool, Value
from devlint.interpreter.conditions.condition_texts import ConditionText, EqualityText, SourceText
from devlint.interpreter.state.frame import Frame


def bool_value(test: Literal | bool | None) -> Value:
    """Return the abstract bool for a condition: a constant for a bool, a symbolic bool for a literal of the program.

    For None, which means that the condition is unknown, the result is an unknown bool.
    """
    if isinstance(test, bool):
        return Const(test)
    return SymbolicBool(test) if test is not None else Number("bool")


def undecided_bool(frame: Frame, node: cst.CSTNode) -> SymbolicBool:
    """Return the abstract bool of a comparison of which nothing is known but its place in the source."""
    return SymbolicBool(Literal(Atom(frame.site_key(node), condition_text(frame, node))))


def condition_text(frame: Frame, node: cst.CSTNode) -> ConditionText:
    """Return an object that prints as the source text of a comparison; `!=` is printed as `==`.

    The text is generated only when it is printed.
    """
    match node:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.NotEqual())]):
            return EqualityText(frame.place(node), node)
    return SourceText(frame.place(node), node)


def negate_bool(value: Value) -> Value:
    """Return the negation of an abstract bool; an unknown bool stays unknown."""
    match value:
        case Const(value=bool(known)):
            return Const(not known)
        case SymbolicBool(test=test):
            return SymbolicBool(~test)
    return value


def choose_bool(test: Literal | None, yes: Value, no: Value) -> Value:
    """Return an abstract bool that is `yes` where the condition `test` holds and `no` where it does not.

    If neither `yes` nor `no` is an unknown bool, the result is a single condition; otherwise it is their join.
    """
    left, right = _as_condition(yes), _as_condition(no)
    if test is None or left is None or right is None:
        return join(yes, no, test)
    both = conditional(test, left, right)
    return Const(both) if isinstance(both, bool) else SymbolicBool(both)


def _as_condition(value: Value) -> Literal | bool | None:
    """Return the condition that an abstract bool stands for: a bool or a literal; None for an unknown bool."""
    match value:
        case Const(value=bool(known)):
            return known
        case SymbolicBool(test=test):
            return test
    return None
