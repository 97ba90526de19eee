"""Code that runs only where there is CUDA: functions and classes by what their users ask, files that refuse to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.functions_by_uses import FunctionsByUses
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.written_guards import NAMING
from devlint.syntax.source_code import words_in
from devlint.syntax.statement import Statement

_CUDA: Final = "cuda"
"""The word in a function without which it needs no CUDA."""
_ENDING_CALLS: Final = frozenset({"exit", "quit", "_exit"})
"""The last names of the functions that end the program."""


class CheckedFunctions(FunctionsByUses):
    """The functions and classes of a program's files that are named only where the program has asked for CUDA."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        super().__init__(program, imports, _CUDA, _is_checked)


def _is_checked(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a check for CUDA decides whether the code at a node runs."""
    return _is_under_check(path) or _is_after_refusal(path)


def refuses_at_top(statements: Sequence[Statement]) -> bool:
    """Return whether a file ends the program, or raises an error, as soon as it is run without CUDA."""
    return any(one.kind == "other" and _CUDA in one.mentions and refuses(one.tree) for one in statements)


def _tells(test: cst.CSTNode, outcome: bool, asks: Callable[[cst.CSTNode], bool]) -> bool:
    """Return whether the outcome of a condition means that there is CUDA, as the parts of it tell that ask for CUDA."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _tells(inner, not outcome, asks)
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            # Both parts have the outcome where `and` holds and where `or` does not; else, it may be either of them.
            both = outcome is isinstance(operator, cst.And)
            found = [_tells(one, outcome, asks) for one in (left, right)]
            return any(found) if both else all(found)
    return asks(test) and outcome is not _is_negative(test)


def _is_under_check(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node runs only where a test around it has found CUDA: where the test, or its negation, holds."""
    return any(
        isinstance(above, (cst.If, cst.IfExp))
        and below is not above.test
        and _tells(above.test, below is above.body, _mentions_cuda)
        for above, below in pairwise(path)
    )


def _mentions_cuda(test: cst.CSTNode) -> bool:
    """Return whether a condition names CUDA, or what there is for CUDA only."""
    return any(part in word.lower() for word in words_in(test) for part in NAMING)


def _is_negative(test: cst.CSTNode) -> bool:
    """Return whether a condition that names CUDA holds where there is none."""
    match test:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.NotEqual() | cst.IsNot() | cst.NotIn())]):
            return True
    return False


def _is_after_refusal(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a statement before a node, in a block around it, leaves that block where there is no CUDA."""
    for above, below in pairwise(path):
        if isinstance(above, cst.IndentedBlock):
            before = above.body[: next(i for i, one in enumerate(above.body) if one is below)]
            if any(map(refuses, before)):
                return True
    return False


def refuses(statement: cst.CSTNode) -> bool:
    """Return whether a statement raises an error or leaves where CUDA is not available, or for another device."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
            return _tells(test, True, _asks_for_cuda)
        case cst.If(test=test, body=body, orelse=None):
            return _tells(test, False, _asks_for_cuda) and _leaves(body)
    return False


def _asks_for_cuda(test: cst.CSTNode) -> bool:
    """Return whether a condition asks for nothing but whether CUDA is available, or whether a device is one of CUDA."""
    match test:
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="is_available")), args=[]):
            return _CUDA in words_in(value)
        case cst.Comparison(
            left=cst.Attribute(attr=cst.Name(value="type")),
            comparisons=[
                cst.ComparisonTarget(operator=cst.Equal() | cst.NotEqual(), comparator=cst.SimpleString() as name)
            ],
        ):
            return name.raw_value == _CUDA
    return False


def _leaves(body: cst.BaseSuite) -> bool:
    """Return whether a block ends by an error, a return, or a call that ends the program."""
    last = body.body[-1] if body.body else None
    match last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last:
        case cst.Raise() | cst.Return():
            return True
        case cst.Expr(value=cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)))):
            return name in _ENDING_CALLS
    return False
