"""Local names of which every binding is seen: where no path has bound one, reading it raises UnboundLocalError."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo, names_bound_by
from devlint.interpreter.program.node_kinds import BINDERS, LOOPS, SCOPES
from devlint.syntax.tree_walk import children, descend

_BIND_UNSEEN: Final = (cst.CompFor, cst.NamedExpr, cst.MatchAs, cst.MatchStar)
"""What binds names in a scope of its own, or on paths that the interpreter does not follow."""


def plain_locals(function: FunctionInfo) -> frozenset[str]:
    """Return the local names of a function that only its own statements bind, outside `try` blocks.

    A handler may run after any part of a statement in the `try` block, so names bound there may be bound. So may names
    bound in the body of a `with` statement that is left early, because the context manager may suppress an exception.
    """
    plain, others = set[str](), set[str]()
    for node, is_open in _binders(function.node.body, False):
        names = names_bound_by(node)
        (others if is_open or isinstance(node, _BIND_UNSEEN) else plain).update(names)
    for node in descend(function.node.body):
        if type(node) is cst.Global or type(node) is cst.Nonlocal:
            others.update(item.name.value for item in node.names)
    return frozenset(plain - others)


def _binders(node: cst.CSTNode, is_open: bool) -> Iterator[tuple[cst.CSTNode, bool]]:
    """Yield the nodes in a piece of code that bind names, each with whether an exception may be caught around it."""
    for child in children(node):
        if type(child) in BINDERS:
            yield child, is_open
        if type(child) in SCOPES:
            continue
        caught = isinstance(node, cst.Try | cst.TryStar) and child is node.body
        kept = isinstance(node, cst.With) and child is node.body and any(map(_may_leave, descend(child)))
        yield from _binders(child, is_open or caught or kept)


def _may_leave(node: cst.CSTNode) -> bool:
    """Return whether code after a node may never be reached although no exception has been seen."""
    return type(node) in LOOPS or isinstance(node, cst.Return | cst.Raise | cst.Break | cst.Continue)
