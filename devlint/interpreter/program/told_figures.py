"""Figures that code only shows to a person, by printing or logging them, or never uses: nothing depends on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.device_counts import names_holding, scope_of
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.program.written_guards import function_around, is_told
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import descend

_FIGURES: Final = frozenset({"format", "str", "int", "float", "round", "min", "max"})
"""The names of functions that make another figure, or a text, of a figure."""
_DIVISIONS: Final = (cst.Divide, cst.FloorDivide, cst.Modulo)
"""The operators that fail where the right operand is 0."""


def is_only_told(path: Sequence[cst.CSTNode], statements: Sequence[Statement]) -> bool:
    """Return whether code only prints or logs the figure that a function, a node, returns, or what it computes from it.

    Code in a function may also not use it at all, and a statement may be nothing but the call.

    `path` are the nodes from the top-level statement down to the node, which the last but one of them calls.
    `statements` are the top-level statements of its file.
    """
    if not path or _is_divisor(path):
        return False
    if is_told(path) or _is_dropped(path):
        return True
    function = function_around(path)
    if not _is_assigned(path[:-2]):
        return False
    if function is None and any(isinstance(one, cst.ClassDef) for one in path):
        return False
    names = names_holding(scope_of(path, statements), path[-1])
    # Any code of the file may read a name at its top.
    trees = (one.tree_or_none for one in statements)
    roots = (function,) if function is not None else [one for one in trees if one is not None]
    told = function is not None
    for use in _uses(roots, names):
        if _is_divisor(use) or not (is_told(use) or _is_assigned(use)):
            return False
        told = told or is_told(use)
    return told


def _uses(roots: Sequence[cst.CSTNode], names: set[str]) -> Iterator[Sequence[cst.CSTNode]]:
    """Yield the paths from some nodes to the places in them where some names stand."""
    for root in roots if names else ():
        for node in descend(root):
            if isinstance(node, cst.Name) and node.value in names:
                path = path_to(root, node)
                above = path[-2] if len(path) > 1 else None
                # Neither a member nor a parameter of a called function is a use of the name.
                if not (isinstance(above, cst.Attribute) and node is above.attr) and not (
                    isinstance(above, cst.Arg) and node is above.keyword
                ):
                    yield path


def _is_dropped(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether the call of a function, the last node, is a statement of its own, which drops what it returns.

    The last one of a notebook's cell shows it.
    """
    match path:
        case [*_, cst.Expr(), cst.Call(), _]:
            return True
    return False


def _is_divisor(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in an expression by which something is divided, which fails for 0."""
    return any(
        isinstance(above, cst.BinaryOperation) and isinstance(above.operator, _DIVISIONS) and below is above.right
        for above, below in pairwise(path)
    )


def _is_assigned(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in an assignment, to plain names, of what is still a figure or a text about it."""
    for one in reversed(path):
        match one:
            case cst.Assign(targets=targets):
                return all(isinstance(each.target, cst.Name) for each in targets)
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))) if name in _FIGURES:
                pass
            case cst.Call() | cst.IfExp() | cst.Comparison():
                return False
    return False
