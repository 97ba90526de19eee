"""The syntax around an operation: what the code that is written there does with the operation's result."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.domain.torch_names import CAST_METHODS, MOVE_METHODS
from devlint.interpreter.operations.dtype_arguments import is_called_dtype
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name

ELEMENT_METHODS: Final = frozenset(
    "clone contiguous detach expand flatten gather index_select permute pin_memory repeat reshape squeeze t take"
    " transpose unsqueeze view".split()
)
"""The methods that return elements of a tensor as they are, and compute nothing from them."""


def is_cast_at_once(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether the expression around a tensor's expression casts the tensor, or elements taken out of it."""
    for method, call in _methods_around(frame, node):
        if method in CAST_METHODS or method == "type":
            return True
        if method == "to" and any(_names_dtype(argument) for argument in call.args):
            return True
        if method not in ELEMENT_METHODS and method not in MOVE_METHODS:
            return False
    return False


def is_never_computed_with(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether a tensor's name is read again, and every time only to be cast or compared.

    In what dtype the tensor is kept then costs nothing but memory.
    """
    reads = frame.analysis.use_def.reads_of_result(frame, node)
    return bool(reads) and all(is_cast_at_once(frame, one) or _is_compared(frame, one) for one in reads)


def _is_compared(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether an expression is an operand of a comparison, as the mask in `mask > 0`."""
    match frame.analysis.use_def.path(frame, node)[-3:]:
        case [cst.Comparison(left=left), _] | [_, cst.Comparison(left=left), _] if left is node:
            return True
        case [cst.Comparison(), cst.ComparisonTarget(), _]:
            return True
    return False


def is_moved_afterwards(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether the function moves the result of an operation: at once, or by the name that the result gets."""
    if _is_moved(frame, node):
        return True
    return any(_is_moved(frame, read) for read in frame.analysis.use_def.reads_of_result(frame, node))


def _is_moved(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether the expression around a tensor's expression moves the tensor, or elements taken out of it."""
    for method, call in _methods_around(frame, node):
        casts = method in CAST_METHODS or (method in ("to", "type") and bool(call.args) and all(map(_casts, call.args)))
        if method in MOVE_METHODS and not casts:
            return True
        if method not in ELEMENT_METHODS and not casts:
            return False
    return False


def _casts(argument: cst.Arg) -> bool:
    """Return whether an argument of `.to()` or `.type()` is written as a dtype; `torch.FloatTensor` is on the host."""
    named = dotted_name(argument.value) or ""
    return _names_dtype(argument) and not named.endswith("Tensor")


def _methods_around(frame: Frame, node: cst.CSTNode) -> Iterator[tuple[str, cst.Call]]:
    """Yield the methods that are called on the value of a syntax node, one after another, with their calls.

    For `x` in `x[0].to(device).float()` they are `to` and `float`; a subscript takes elements out and is passed over.
    """
    above = frame.analysis.use_def.path(frame, node)[-2::-1]
    for parent, grandparent in itertools.pairwise(above):
        match parent, grandparent:
            case cst.Attribute(value=value, attr=attr), cst.Call(func=func) if value is node and func is parent:
                yield attr.value, grandparent
            case cst.Call(func=func), _ if func is node:
                pass
            case cst.Subscript(value=value), _ if value is node:
                pass
            case _:
                return
        node = parent


def _names_dtype(argument: cst.Arg) -> bool:
    """Return whether an argument of `.to()` is written as a dtype: `dtype=...`, `torch.float32`, `x.dtype`."""
    if argument.keyword is not None:
        return argument.keyword.value == "dtype"
    match argument.value:
        case cst.Attribute(value=cst.Name(value="torch" | "th")):
            return True
    return is_called_dtype(argument.value)
