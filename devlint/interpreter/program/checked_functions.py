"""Code that runs only where there is CUDA: functions by what their callers ask, and files that refuse to run."""

from __future__ import annotations

from collections.abc import Sequence
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
    """The functions of a program's files that are named only where the program has asked for CUDA before."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        super().__init__(program, imports, _CUDA, _is_checked)


def _is_checked(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a check for CUDA decides whether the code at a node runs."""
    return _is_under_check(path) or _is_after_refusal(path)


def refuses_at_top(statements: Sequence[Statement]) -> bool:
    """Return whether a file ends the program, or raises an error, as soon as it is run without CUDA."""
    return any(one.kind == "other" and _CUDA in one.mentions and _refuses(one.tree) for one in statements)


def _is_under_check(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node runs only where a test around it has found CUDA: where the test, or its negation, holds."""
    return any(
        isinstance(above, (cst.If, cst.IfExp))
        and below is not above.test
        and _mentions_cuda(above.test)
        and (below is above.body) is not _is_negative(above.test)
        for above, below in pairwise(path)
    )


def _mentions_cuda(test: cst.CSTNode) -> bool:
    """Return whether a condition names CUDA, or what there is for CUDA only."""
    return any(part in word.lower() for word in words_in(test) for part in NAMING)


def _is_negative(test: cst.CSTNode) -> bool:
    """Return whether a condition that names CUDA holds where there is none."""
    match test:
        case cst.UnaryOperation(operator=cst.Not()):
            return True
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=cst.NotEqual() | cst.IsNot() | cst.NotIn())]):
            return True
    return False


def _is_after_refusal(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a statement before a node, in a block around it, leaves that block where there is no CUDA."""
    for above, below in pairwise(path):
        if isinstance(above, cst.IndentedBlock):
            before = above.body[: next(i for i, one in enumerate(above.body) if one is below)]
            if any(map(_refuses, before)):
                return True
    return False


def _refuses(statement: cst.CSTNode) -> bool:
    """Return whether a statement raises an error or leaves where CUDA is not available."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
            return _asks_for_cuda(test)
        case cst.If(test=cst.UnaryOperation(operator=cst.Not(), expression=test), body=body, orelse=None):
            return _asks_for_cuda(test) and _leaves(body)
    return False


def _asks_for_cuda(test: cst.CSTNode) -> bool:
    """Return whether a condition is nothing but the question whether CUDA is available."""
    match test:
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="is_available")), args=[]):
            return _CUDA in words_in(value)
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
