"""Branches: whether some code runs only if a test of the program turns out one way."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import libcst as cst

from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import descend


@lru_cache(maxsize=256)
def is_in_branch(body: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a body stands in a branch of an `if` or a conditional expression, or in a handler.

    A branch on `self.training` does not count: a module is trained most of the time.
    """
    return any(_is_branch(above, below) for above, below in pairwise(path_to(body, node)))


def _is_branch(above: cst.CSTNode, below: cst.CSTNode) -> bool:
    """Return whether a node is a branch of the node around it."""
    match above:
        case cst.If(test=test) | cst.IfExp(test=test):
            return below is not test and not _asks_for_training(test)
        case cst.Try():
            return isinstance(below, cst.ExceptHandler)
    return False


def _asks_for_training(test: cst.BaseExpression) -> bool:
    """Return whether a test reads the flag of a module that says whether it is trained."""
    return any(isinstance(one, cst.Attribute) and one.attr.value == "training" for one in (test, *descend(test)))
