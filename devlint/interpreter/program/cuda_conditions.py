"""What conditions tell of CUDA as they are written, and the statements that refuse to run without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.written_guards import NAMING
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import descend

CUDA: Final = "cuda"
"""The word in code without which it needs no CUDA."""
_ENDING_CALLS: Final = frozenset({"exit", "quit", "_exit", "skip", "skipTest"})
"""The last names of the functions that end the program, or the test."""
_CUDA_FLAG: Final = re.compile(r"(?:(?:is|has|use)_)?cuda(?:_available)?")
"""The name of a flag that says whether a tensor or the program is on CUDA."""


def tells(test: cst.CSTNode, outcome: bool, asks: Callable[[cst.CSTNode], bool]) -> bool:
    """Return whether the outcome of a condition means that there is CUDA, as the parts of it tell that ask for CUDA."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return tells(inner, not outcome, asks)
        case cst.BooleanOperation(left=left, operator=operator, right=right):
            # Both parts have the outcome where `and` holds and where `or` does not; else, it may be either of them.
            both = outcome is isinstance(operator, cst.And)
            found = [tells(one, outcome, asks) for one in (left, right)]
            return any(found) if both else all(found)
    return asks(test) and outcome is not _is_negative(test)


def mentions_cuda(test: cst.CSTNode) -> bool:
    """Return whether a condition names CUDA, or what there is for CUDA only."""
    return any(part in word.lower() for word in words_in(test) for part in NAMING)


def _is_negative(test: cst.CSTNode) -> bool:
    """Return whether a condition that names CUDA holds where there is none."""
    match test:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator, comparator=comparator)]):
            if isinstance(comparator, cst.Integer) and comparator.value == "0":  # a number of devices
                return isinstance(operator, (cst.Equal, cst.LessThanEqual))
            return isinstance(operator, (cst.NotEqual, cst.IsNot, cst.NotIn, cst.LessThan, cst.LessThanEqual))
    return False


def is_told_around(path: Sequence[cst.CSTNode], asks: Callable[[cst.CSTNode], bool]) -> bool:
    """Return whether a condition around a node means that there is CUDA where the node runs.

    `path` are the nodes from the top-level statement down to the node.
    """
    return any(
        isinstance(above, (cst.If, cst.IfExp))
        and below is not above.test
        and tells(above.test, below is above.body, asks)
        for above, below in pairwise(path)
    )


def refuses(statement: cst.CSTNode) -> bool:
    """Return whether a statement raises an error or leaves where CUDA is not available, or for another device."""
    match statement:
        case cst.SimpleStatementLine(body=[cst.Assert(test=test)]):
            return tells(test, True, asks_for_cuda)
        case cst.If(test=test, body=body, orelse=None):
            return tells(test, False, asks_for_cuda) and leaves(body)
    return False


def raises(statement: cst.CSTNode) -> bool:
    """Return whether a statement raises an error where CUDA is not available, and does not only return there."""
    return refuses(statement) and not any(isinstance(one, cst.Return) for one in descend(statement))


def asks_for_cuda(test: cst.CSTNode) -> bool:
    """Return whether a condition asks for nothing but whether CUDA is available, or whether a device is one of CUDA."""
    match test:
        case cst.Call(func=cst.Attribute(value=value, attr=cst.Name(value="is_available")), args=[]):
            return CUDA in words_in(value)
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)) if _CUDA_FLAG.fullmatch(name):
            return True
        case cst.Comparison(
            left=cst.Attribute(attr=cst.Name(value="type")),
            comparisons=[
                cst.ComparisonTarget(operator=cst.Equal() | cst.NotEqual(), comparator=cst.SimpleString() as name)
            ],
        ):
            return name.raw_value == CUDA
    return False


def leaves(body: cst.BaseSuite) -> bool:
    """Return whether a block ends by an error, a return, or a call that ends the program."""
    last = body.body[-1] if body.body else None
    match last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last:
        case cst.Raise() | cst.Return():
            return True
        case cst.Expr(value=cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)))):
            return name in _ENDING_CALLS
    return False
