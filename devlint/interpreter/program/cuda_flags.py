"""Flags that need CUDA: their file refuses them without CUDA, or clears them there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import libcst as cst

from devlint.interpreter.program.cuda_conditions import CUDA, asks_for_cuda, is_told_around, leaves, raises, tells
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.syntax.tree_walk import descend, dotted_name


def is_under_cuda_flag(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node runs only where a flag is true that needs CUDA, such as `args.fp16`.

    `path` are the nodes from the top-level statement down to the node.
    """
    names = {name for one in path if isinstance(one, (cst.If, cst.IfExp)) for name in _names_in(one.test)}
    return any(is_told_around(path, partial(_is_flag, one)) and _needs_cuda(module, one) for one in names)


def _names_in(test: cst.CSTNode) -> Iterator[str]:
    """Yield the dotted names in a condition."""
    for one in (test, *descend(test)):
        name = dotted_name(one) if isinstance(one, (cst.Name, cst.Attribute)) else None
        if name is not None:
            yield name


def _is_flag(flag: str, test: cst.CSTNode) -> bool:
    """Return whether a condition is nothing but a flag, given as a dotted name."""
    return isinstance(test, (cst.Name, cst.Attribute)) and dotted_name(test) == flag


def _needs_cuda(module: ModuleInfo, flag: str) -> bool:
    """Return whether a file refuses a flag without CUDA, or clears it there."""
    units = (one for one in module.index.statements if CUDA in one.text and flag in one.text)
    trees = (one.tree_or_none for one in units)
    return any(
        isinstance(one, cst.If) and _refuses(one, flag)
        for tree in trees
        if tree is not None
        for one in (tree, *descend(tree))
    )


def _refuses(statement: cst.If, flag: str) -> bool:
    """Return whether a statement ends by an error, or clears a flag, where the flag is true and there is no CUDA."""
    body = statement.body
    if _is_flag(flag, statement.test):
        return any(map(raises, body.body))
    parts = [statement.test]
    match statement.test:
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            parts = [left, right]
    others = [one for one in parts if not _is_flag(flag, one)]
    if not all(tells(one, False, asks_for_cuda) for one in others):
        return False
    if len(others) < len(parts) and leaves(body) and not any(isinstance(one, cst.Return) for one in descend(body)):
        return True
    return any(_clears(one, flag) for one in body.body)


def _clears(statement: cst.CSTNode, flag: str) -> bool:
    """Return whether a statement sets a flag to False."""
    match statement:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Name(value="False"))]
        ):
            return _is_flag(flag, target)
    return False
