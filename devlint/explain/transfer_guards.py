"""Comparisons of devices that only decide whether a tensor is moved, or unused memory is given back."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.domain.placement import Place
from devlint.domain.torch_names import MOVE_METHODS
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name


def guards_transfer(place: Place, operator: str) -> bool:
    """Return whether a comparison is the test of an `if` that moves the tensor where the devices differ, and no more.

    Such a comparison does no harm when it always tells that they differ: a transfer to the tensor's own device does
    nothing. The `if` has no `else`, or both branches do the same but for the transfer. An `if` that only gives unused
    memory back does no harm either, nor one that only takes the device that was compared with the host. A conditional
    expression is like an `if` with an `else`. The test may have other parts, as in `x is not None and x.device != d`.
    """
    tree = place.unit.tree if isinstance(place.unit, Statement) else None
    for branch in (tree, *descend(tree)) if tree is not None else ():
        if not isinstance(branch, (cst.If, cst.IfExp)):
            continue
        negated = isinstance(branch.test, cst.UnaryOperation) and isinstance(branch.test.operator, cst.Not)
        test = branch.test.expression if isinstance(branch.test, cst.UnaryOperation) and negated else branch.test
        compared = next((one for one in _operands(test) if one is place.node), None)
        if compared is not None and (compared is test or not negated):
            other = _other_branch(branch)
            taken_if_equal = (operator in ("==", "is")) is not negated
            differing, equal = (other, branch.body) if taken_if_equal else (branch.body, other)
            if differing is None:
                return False
            if equal is not None:
                return _without_transfers(differing) == _without_transfers(equal)
            statements = _statements(differing)
            return (
                any(map(_is_transfer, statements))
                or all(map(_frees_memory, statements))
                or (len(statements) == 1 and _takes_compared_device(statements[0], compared))
            )
    return False


def _operands(test: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the parts that `and` and `or` join in a test."""
    if isinstance(test, cst.BooleanOperation):
        yield from _operands(test.left)
        yield from _operands(test.right)
    else:
        yield test


def _other_branch(branch: cst.If | cst.IfExp) -> cst.BaseSuite | cst.BaseExpression | None:
    """Return what runs where a test fails; None for an `if` without `else`, or with an `elif`."""
    match branch.orelse:
        case cst.Else(body=body):
            return body
        case cst.BaseExpression() as expression:
            return expression
    return None


def _statements(block: cst.BaseSuite | cst.BaseExpression) -> list[cst.CSTNode]:
    """Return the statements of a block, those of one line one by one; an expression is one."""
    lines = block.body if isinstance(block, cst.BaseSuite) else (block,)
    return [one for line in lines for one in (line.body if isinstance(line, cst.SimpleStatementLine) else (line,))]


def _takes_compared_device(statement: cst.CSTNode, test: cst.CSTNode) -> bool:
    """Return whether a statement assigns the device that a test compares with the host: `device = torch.device(x)`."""
    match statement, test:
        case cst.Assign(value=value), cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            if isinstance(value, cst.Call) and dotted_name(value.func) == "torch.device" and len(value.args) == 1:
                value = value.args[0].value
            named = isinstance(right, cst.SimpleString) and right.raw_value == "cpu"
            return named and value.deep_equals(left)
    return False


def _without_transfers(block: cst.BaseSuite | cst.BaseExpression) -> list[str]:
    """Return the texts of a block's statements with each transfer `x.to(...)` replaced by what is transferred.

    Statements that then do nothing are left out.
    """
    module = cst.Module([])
    moved = (one.visit(_TransferRemoval()) for one in _statements(block))
    texts = [module.code_for_node(one).replace(" ", "") for one in moved if isinstance(one, cst.CSTNode)]
    return [one for one in texts if one != "pass" and one.partition("=")[0] != one.partition("=")[2]]


class _TransferRemoval(cst.CSTTransformer):
    """Replaces the calls of methods that move a tensor by the tensor."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Return the tensor that a transfer moves, and any other call as it is."""
        match updated_node.func:
            case cst.Attribute(value=moved, attr=cst.Name(value=method)) if method in MOVE_METHODS:
                return moved
        return updated_node


def _is_transfer(statement: cst.CSTNode) -> bool:
    """Return whether a statement only moves a tensor or a module: `x = x.to(device)`, `model.cuda()`."""
    match statement:
        case (
            cst.Assign(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=method))))
            | cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=method))))
        ):
            return method in MOVE_METHODS
    return False


def _frees_memory(statement: cst.CSTNode) -> bool:
    """Return whether a statement only gives unused memory back: `torch.cuda.empty_cache()`, `gc.collect()`."""
    match statement:
        case cst.Expr(value=cst.Call(func=called)):
            return (dotted_name(called) or "").rpartition(".")[2] in ("empty_cache", "collect")
    return False
