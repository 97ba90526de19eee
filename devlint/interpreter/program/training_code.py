"""Training code by its text: which code takes a step of training, and what in it runs only now and then."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.kept_results import leaves_block
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import children, descend, dotted_name

_BACKWARD: Final = frozenset({"backward", "manual_backward"})
"""The methods that run the backward pass of a training step."""


@lru_cache(maxsize=256)
def takes_training_step(code: cst.CSTNode) -> bool:
    """Return whether the body of a loop or function runs a backward pass, outside of its inner loops and functions."""
    body = code.body if isinstance(code, (cst.For, cst.While, cst.FunctionDef)) else code
    return any(map(_is_backward_pass, straight_code(body)))


@lru_cache(maxsize=256)
def trains(code: cst.CSTNode) -> bool:
    """Return whether some code runs a backward pass anywhere."""
    return any(map(_is_backward_pass, descend(code)))


def _is_backward_pass(node: cst.CSTNode) -> bool:
    """Return whether a node is a call that runs the backward pass of a training step."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _BACKWARD


def straight_code(code: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes of some code that run at most once when the code runs: those outside of loops and functions."""
    for one in children(code):
        if not isinstance(one, (cst.For, cst.While, cst.FunctionDef, cst.ClassDef, cst.Lambda)):
            yield one
            yield from straight_code(one)


@lru_cache(maxsize=256)
def runs_now_and_then(code: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a loop or function runs only in some iterations: under `if step % 100 == 0:`.

    So does what is behind `if step % 100: continue`, and what the last iteration does (`if i == len(batches) - 1:`).
    """
    path = path_to(code, node)
    for above, below in pairwise(path):
        match above:
            case cst.If(test=test) | cst.IfExp(test=test) if below is not test and _counts(code, test):
                return True
            case cst.BooleanOperation(left=left) if below is not left and _counts(code, left):
                return True
            case cst.IndentedBlock(body=statements):
                for one in statements[: next(i for i, each in enumerate(statements) if each is below)]:
                    if isinstance(one, cst.If) and leaves_block(one.body) and _counts(code, one.test):
                        return True
    return False


def _counts(code: cst.CSTNode, test: cst.BaseExpression) -> bool:
    """Return whether a test divides a counter, or compares it with the number of iterations.

    A name counts if the code binds it to such an expression.
    """
    if _is_counting(test):
        return True
    names = {one.value for one in (test, *descend(test)) if isinstance(one, cst.Name)}
    for one in descend(code):
        match one:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                if name in names and _is_counting(value):
                    return True
    return False


def _is_counting(test: cst.BaseExpression) -> bool:
    """Return whether an expression holds a remainder, or an equation with a length."""
    for one in (test, *descend(test)):
        match one:
            case cst.BinaryOperation(operator=cst.Modulo()):
                return True
            case cst.ComparisonTarget(operator=cst.Equal(), comparator=other):
                calls = (each for each in (other, *descend(other)) if isinstance(each, cst.Call))
                if any(dotted_name(each.func) == "len" for each in calls):
                    return True
    return False
