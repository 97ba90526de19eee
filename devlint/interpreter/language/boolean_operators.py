"""Handlers of `and`, `or` and comparisons, whose values are conditions where that is known."""

from __future__ import annotations

import libcst as cst

from devlint.domain.join import join, without_none
from devlint.domain.path_conditions import Literal, conjunction, disjunction
from devlint.domain.value import UNKNOWN, Const, Number, SymbolicBool, Value
from devlint.interpreter.conditions.abstract_bools import bool_value
from devlint.interpreter.conditions.comparisons import evaluate_comparison
from devlint.interpreter.conditions.narrowing import condition_of, narrow
from devlint.interpreter.language.expressions import truth
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame, evaluates


@evaluates(cst.BooleanOperation)
def boolean(frame: Frame, node: cst.BooleanOperation) -> Value:
    """Evaluate `a and b` or `a or b`.

    The value is a condition if both operands are conditions; otherwise it is the join of the operands that it may be.
    """
    is_and = isinstance(node.operator, cst.And)
    left = frame.evaluate(node.left)
    if isinstance(left, (Const, SymbolicBool)) and (not isinstance(left, Const) or isinstance(left.value, bool)):
        test = condition_of(frame, node)
        right_test = frame.conditions.get(node.right)
        if isinstance(test, bool) and node.right not in frame.conditions:
            return Const(test)
        right = frame.evaluate(node.right) if not isinstance(right_test, (bool, Literal)) else bool_value(right_test)
        if isinstance(right, (Const, SymbolicBool)) and not (
            isinstance(right, Const) and not isinstance(right.value, bool)
        ):
            return bool_value(test)
        if isinstance(left, Const):
            return right if bool(left.value) is is_and else left
        return join(right, Const(not is_and)) if isinstance(right, (Number, SymbolicBool)) else UNKNOWN
    known = truth(frame, node.left)
    if known is not None:
        return frame.evaluate(node.right) if known is is_and else left
    values: list[Value] = []

    def second() -> None:
        narrow(frame, node.left, is_and)
        values.append(frame.evaluate(node.right))

    (end,) = frame.branch(second)
    frame.state = join_states(frame.state, end)
    right = values[0] if values else UNKNOWN
    test = frame.conditions[node.left]
    if not isinstance(test, Literal):
        return join(left if is_and else without_none(left), right)
    if isinstance(right, SymbolicBool) or right in (Const(True), Const(False)):
        # A value combined with a condition is treated as a condition too.
        other = right.test if isinstance(right, SymbolicBool) else right == Const(True)
        return bool_value(_connect(test, other, is_and=is_and))
    return join(right, left, test) if is_and else join(without_none(left), right, test)


def _connect(left: Literal, right: Literal | bool, *, is_and: bool) -> Literal | bool:
    """Return the conjunction (`is_and`) or the disjunction of two conditions."""
    if isinstance(right, bool):
        return left if right is is_and else right
    return conjunction(left, right) if is_and else disjunction(left, right)


@evaluates(cst.Comparison)
def comparison(frame: Frame, node: cst.Comparison) -> Value:
    """Evaluate a comparison such as `a < b` or `a.device == b.device`; a chain (`a < b < c`) is an unknown bool."""
    left = Argument(frame.evaluate(node.left), node.left)
    results: list[Value] = []
    for part in node.comparisons:
        right = Argument(frame.evaluate(part.comparator), part.comparator)
        results.append(evaluate_comparison(frame, node, part.operator, left, right))
        left = right
    return results[0] if len(results) == 1 else Number("bool")
