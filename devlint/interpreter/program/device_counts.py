"""What code does with the number of CUDA devices: it decides about CUDA, or code runs once for each of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

import libcst as cst

from devlint.interpreter.program.written_guards import function_around, texts_in
from devlint.syntax.source_code import words_in
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import descend

_CUDA_DEVICE: Final = re.compile(r"cuda(:.*)?")
"""A text that names a device of CUDA, or begins such a text."""
_COUNTING: Final = ("device_count", "cuda")
"""Parts of the names of functions that return how many CUDA devices there are."""


def is_about_count(path: Sequence[cst.CSTNode], statements: Sequence[Statement]) -> bool:
    """Return whether the number of CUDA devices, a node, is asked for code that is for CUDA.

    `path` are the nodes from the top-level statement down to the node, `statements` the top-level statements of its
    file. The number is only compared, or only decides on a branch, or decides whether a CUDA device is taken or how
    often a loop with code for CUDA runs, or is handed to code that makes the names of CUDA devices of it, or the
    function around it sets which CUDA devices are seen.
    """
    function = function_around(path)
    if function is not None and any("CUDA_VISIBLE_DEVICES" in one for one in words_in(function)):
        return True
    for above, below in pairwise(path):
        if isinstance(above, (cst.If, cst.IfExp, cst.While)) and below is above.test:
            return True
        if isinstance(above, cst.For) and below is above.iter and "cuda" in words_in(above.body):
            return True
    if any(isinstance(one, (cst.Comparison, cst.Decorator)) for one in path):
        return True
    if not path:
        return False
    scope = scope_of(path, statements)
    names = names_holding(scope, path[-1])
    return takes_cuda_for(scope, names) or any(map(_names_cuda_devices, _handed_to(scope, names, statements)))


def _handed_to(
    scope: Sequence[cst.CSTNode], names: Collection[str], statements: Sequence[Statement]
) -> Iterator[cst.FunctionDef]:
    """Yield the functions and methods of a file that code calls, by their names, with what it holds in some names."""
    called = {
        _called_name(one)
        for root in scope
        for one in (descend(root) if names else ())
        if isinstance(one, cst.Call) and any(word in names for argument in one.args for word in words_in(argument))
    } - {""}
    for unit in statements:
        if not called.isdisjoint(unit.mentions) and unit.kind in ("function", "class"):
            tree = unit.tree_or_none
            for one in (tree, *descend(tree)) if tree is not None else ():
                if isinstance(one, cst.FunctionDef) and one.name.value in called and one not in scope:
                    yield one


def _called_name(call: cst.Call) -> str:
    """Return the last name of the function that a call names; empty for another expression."""
    match call.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return ""


def _names_cuda_devices(function: cst.FunctionDef) -> bool:
    """Return whether a function makes texts such as "cuda:1", the names of CUDA devices."""
    return any(text.startswith("cuda:") for text in texts_in(function))


def takes_cuda_for(scope: Sequence[cst.CSTNode], names: Collection[str]) -> bool:
    """Return whether a test on one of some names, in code, decides whether the code takes a CUDA device."""
    for root in scope if names else ():
        for above in (root, *descend(root)):
            match above:
                case cst.If(test=test, body=body, orelse=orelse) | cst.IfExp(test=test, body=body, orelse=orelse):
                    if any(word in names for word in words_in(test)):
                        parts = [body, orelse if orelse is not None else root if _leaves(body) else body]
                        if any(map(_takes_cuda, parts)):
                            return True
    return False


def is_for_each_cuda_device(path: Sequence[cst.CSTNode], statements: Sequence[Statement]) -> bool:
    """Return whether a loop around a node runs once for each CUDA device, and so not at all without CUDA."""
    for above, below in pairwise(path):
        match above:
            case cst.For(iter=items, body=body) if below is body:
                pass
            case cst.BaseComp(for_in=cst.CompFor(iter=items) as loop) if below is not loop:
                pass
            case _:
                continue
        if _counts(items):
            return True
        words = set(words_in(items))
        if any(name in words and _counts(value) for name, value in assigned_in(scope_of(path, statements))):
            return True
    return False


def _counts(node: cst.CSTNode) -> bool:
    """Return whether code calls a function that says, by its name, how many CUDA devices there are."""
    called = (one.func for one in (node, *descend(node)) if isinstance(one, cst.Call))
    return any(part in word.lower() for one in called for word in words_in(one) for part in _COUNTING)


def scope_of(path: Sequence[cst.CSTNode], statements: Sequence[Statement]) -> Sequence[cst.CSTNode]:
    """Return the code that shares the names of a node: the function around it, or the code at the top of its file."""
    function = function_around(path)
    if function is not None:
        return (function,)
    found = (one.tree_or_none for one in statements if one.kind == "other")
    return [tree for tree in found if tree is not None]


def names_holding(scope: Sequence[cst.CSTNode], node: cst.CSTNode) -> set[str]:
    """Return the names that code binds to what it computes from a node, such as a number or a range of it."""
    found: set[str] = set()
    while True:
        new = {
            name
            for name, value in assigned_in(scope)
            if any(one is node for one in (value, *descend(value))) or not found.isdisjoint(words_in(value))
        }
        if new <= found:
            return found
        found |= new


def assigned_in(scope: Sequence[cst.CSTNode]) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield the names and attributes to which code assigns the value of an expression."""
    for root in scope:
        for one in (root, *descend(root)):
            match one:
                case cst.Assign(targets=targets, value=value):
                    for each in targets:
                        match each.target:
                            case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
                                yield name, value


def _takes_cuda(node: cst.CSTNode) -> bool:
    """Return whether code writes out a device of CUDA, or moves something to CUDA by the method `cuda`."""
    if any(_CUDA_DEVICE.fullmatch(text) for text in texts_in(node)):
        return True
    called = (one.func for one in (node, *descend(node)) if isinstance(one, cst.Call))
    return any(isinstance(one, cst.Attribute) and one.attr.value == "cuda" for one in called)


def _leaves(body: cst.CSTNode) -> bool:
    """Return whether a branch ends by leaving its function, so that the code after it is the other branch."""
    match body:
        case cst.IndentedBlock(body=[*_, cst.SimpleStatementLine(body=[*_, cst.Return()])]):
            return True
    return False
