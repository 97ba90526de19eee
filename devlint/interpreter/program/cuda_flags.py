"""Flags that need CUDA: their file refuses them without CUDA, clears them there, or sets them by asking for CUDA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import libcst as cst

from devlint.interpreter.program.cuda_conditions import (
    CUDA,
    asks_for_cuda,
    is_told_around,
    leaves,
    mentions_cuda,
    raises,
    tells,
)
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import descend, dotted_name


def is_under_cuda_flag(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node runs only where a flag is true that needs CUDA, such as `args.fp16`.

    `path` are the nodes from the top-level statement down to the node.
    """
    names = {name for one in path if isinstance(one, (cst.If, cst.IfExp)) for name in _names_in(one.test)}
    return any(
        (is_told_around(path, partial(_is_flag, one)) and (_needs_cuda(module, one) or _is_set_by_question(path, one)))
        or (is_told_around(path, partial(_is_given, one)) and _is_set_by_question(path, one))
        for one in names
    )


def _names_in(test: cst.CSTNode) -> Iterator[str]:
    """Yield the dotted names in a condition."""
    for one in (test, *descend(test)):
        name = dotted_name(one) if isinstance(one, (cst.Name, cst.Attribute)) else None
        if name is not None:
            yield name


def _is_flag(flag: str, test: cst.CSTNode) -> bool:
    """Return whether a condition is nothing but a flag, given as a dotted name."""
    return isinstance(test, (cst.Name, cst.Attribute)) and dotted_name(test) == flag


def _is_given(name: str, test: cst.CSTNode) -> bool:
    """Return whether a condition holds only where what has a dotted name is another value, as in `x is torch.half`."""
    match test:
        case cst.Comparison(
            left=left,
            comparisons=[cst.ComparisonTarget(operator=cst.Is() | cst.Equal(), comparator=cst.Attribute() as other)],
        ):
            return _is_flag(name, left) and not mentions_cuda(other)
    return False


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


def _is_set_by_question(path: Sequence[cst.CSTNode], flag: str) -> bool:
    """Return whether the function around a node, or the class for an attribute, sets a flag only by asking for CUDA.

    The flag may also be False or None there. Where it is given in any other way, nothing is known of it.
    """
    scope = _scope_of(path, flag)
    values = [_value_given(one, flag) for one in descend(scope)] if scope is not None else []
    given = [one for one in values if one is not None and not _is_off(one)]
    return bool(given) and all(map(_is_off_without_cuda, given))


def _scope_of(path: Sequence[cst.CSTNode], flag: str) -> cst.CSTNode | None:
    """Return the function around a node that sets a flag, or the class for an attribute of `self`; None if none does.

    A function that takes the flag from its caller does not set it.
    """
    if flag.startswith("self."):
        return next((one for one in path if isinstance(one, cst.ClassDef)), None)
    for one in reversed(path):
        if isinstance(one, cst.FunctionDef):
            return None if flag in words_in(one.params) or "." in flag else one
    return None


def _value_given(node: cst.CSTNode, flag: str) -> cst.CSTNode | None:
    """Return what a node gives to a flag: the value of an assignment, or the node itself for another way."""
    match node:
        case cst.Assign(targets=targets, value=value) if any(_is_flag(flag, one.target) for one in targets):
            return value
        case cst.AnnAssign(target=target, value=value) if _is_flag(flag, target):
            return value
        case (
            cst.AugAssign(target=target)
            | cst.For(target=target)
            | cst.NamedExpr(target=target)
            | cst.AsName(name=target)
            | cst.AssignTarget(target=cst.Tuple() | cst.List() as target)
        ) if any(_is_flag(flag, one) for one in (target, *descend(target))):
            return node
    return None


def _is_off(value: cst.CSTNode) -> bool:
    """Return whether an expression is False or None."""
    return isinstance(value, cst.Name) and value.value in ("False", "None")


def _is_off_without_cuda(value: cst.CSTNode) -> bool:
    """Return whether an expression is False or None where there is no CUDA, for which it asks."""
    match value:
        case cst.IfExp(test=test, body=body, orelse=orelse):
            return (tells(test, True, _is_question) or _is_off_without_cuda(body)) and (
                tells(test, False, _is_question) or _is_off_without_cuda(orelse)
            )
    return _is_off(value) or tells(_without_bool(value), True, _is_question)


def _without_bool(value: cst.CSTNode) -> cst.CSTNode:
    """Return the condition in a call of `bool`; any other expression as it is."""
    match value:
        case cst.Call(func=cst.Name(value="bool"), args=[cst.Arg(value=inner)]):
            return inner
    return value


def _is_question(test: cst.CSTNode) -> bool:
    """Return whether an expression asks for nothing but CUDA, and is true or false."""
    match test:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="startswith")), args=[cst.Arg(value=cst.SimpleString())]):
            return mentions_cuda(test)
        case cst.Comparison():
            return mentions_cuda(test)
    return asks_for_cuda(test)


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
