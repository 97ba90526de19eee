"""The statements beside a statement that only moves a tensor: they tell whether anything is lost with its result."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.placement import Place
from devlint.domain.torch_names import CHAINED_METHODS
from devlint.interpreter.program.usage_evidence import UsageEvidence
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name


def is_all_that_is_timed(place: Place) -> bool:
    """Return whether a call stands between two reads of a clock, which then measure the call itself.

    Nothing else stands there but other such calls and waiting for the device.
    """
    before, after = _around(place)
    before, after = ([one for one in lines if not _drops_transfer(one)] for lines in (before, after))
    return any(map(_reads_clock, before[-1:])) and any(map(_reads_clock, after[:1]))


def is_done_by_next_statement(place: Place) -> bool:
    """Return whether the statement behind a transfer moves the same variable and keeps the result: `x = x.cpu()`."""
    own = _moved_variable(place.node) if isinstance(place.node, cst.Call) else None
    _, after = _around(place)
    match after[:1]:
        case [cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)])]:
            moved = (_moved_variable(one) for one in (value, *descend(value)) if isinstance(one, cst.Call))
            return own is not None and dotted_name(target) == own and own in moved
    return False


def _around(place: Place) -> tuple[Sequence[cst.CSTNode], Sequence[cst.CSTNode]]:
    """Return the statements before and behind the call that is one itself, in its block, without those that wait."""
    tree = place.unit.tree if isinstance(place.unit, Statement) else None
    for block in (tree, *descend(tree)) if tree is not None else ():
        lines = block.body if isinstance(block, (cst.IndentedBlock, cst.Module)) else ()
        for i, line in enumerate(lines):
            match line:
                case cst.SimpleStatementLine(body=[cst.Expr(value=value)]) if value is place.node:
                    before, after = lines[:i], lines[i + 1 :]
                    return [one for one in before if not _waits(one)], [one for one in after if not _waits(one)]
    return (), ()


def _reads_clock(line: cst.CSTNode) -> bool:
    """Return whether a statement reads a clock, or records an event: `start.record()`."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name("record"))))]):
            return True
    return isinstance(line, cst.SimpleStatementLine) and UsageEvidence(line).reads_clock


def _waits(line: cst.CSTNode) -> bool:
    """Return whether a statement only waits for the device: `torch.cuda.synchronize()`, or a helper called `sync`."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=called))]):
            return "sync" in (dotted_name(called) or "").rpartition(".")[2].lower()
    return False


def _drops_transfer(line: cst.CSTNode) -> bool:
    """Return whether a statement only moves a variable and drops the result, perhaps under a condition."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.IfExp(body=one, orelse=other))]):
            return any(_moved_variable(side) is not None for side in (one, other))
        case cst.SimpleStatementLine(body=[cst.Expr(value=value)]):
            return _moved_variable(value) is not None
    return False


def _moved_variable(node: cst.CSTNode) -> str | None:
    """Return the variable at the beginning of a chain of transfers: `x` of `x.detach().cpu()`; None for other code."""
    chained = False
    while (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in CHAINED_METHODS
    ):
        node, chained = node.func.value, True
    return dotted_name(node) if chained and isinstance(node, cst.BaseExpression) else None
