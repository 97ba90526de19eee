"""Extents of the tensors and arrays that factories make: the sizes that a call's arguments give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import libcst as cst

from devlint.domain.extent import Extent
from devlint.domain.placement import Place
from devlint.domain.value import NONE, Const, Rank, Size, Unknown, Value
from devlint.interpreter.operations.empty_tensors import known_items
from devlint.interpreter.state.arguments import Argument, BoundArguments
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row
from devlint.syntax.tree_walk import dotted_name

_LENGTHS: Final = {
    "arange": ("end", "start"),
    "range": ("end", "start"),
    "linspace": ("steps",),
    "logspace": ("steps",),
    "randperm": ("n",),
}
"""The torch factories of vectors, with the parameters that decide on the length, the most telling first."""


def extent_of_result(frame: Frame, row: Row, bound: BoundArguments, node: cst.CSTNode) -> Extent | None:
    """Return the extent of the tensor or array that a factory makes, by its arguments; None where they do not tell."""
    kind, _, argument = row.rank.partition(":")
    name = row.name.rpartition(".")[2]
    if kind == "shape":
        given = next((bound[each] for each in (argument, "size", "shape") if bound.get(each)), None)
        return _of_sizes(frame, given, node) if given is not None else None
    if name == "eye":
        sides = [bound[each][0] for each in ("n", "m") if bound.get(each) and bound[each][0].value != NONE]
        return Extent(tuple(_size(frame, one) for one in (sides * 2)[:2])) if sides else None
    if name in _LENGTHS:
        given = [bound[each][0] for each in _LENGTHS[name] if bound.get(each)]
        return Extent((_size(frame, given[0]),)) if given else None
    if name.endswith("_window"):
        given = bound.get("window_length")
        return Extent((_size(frame, given[0]),)) if given else None
    return None


def _of_sizes(frame: Frame, given: Sequence[Argument], node: cst.CSTNode) -> Extent | None:
    """Return the extent that size arguments give: numbers, or one sequence of numbers."""
    if isinstance(node, cst.Call) and any(one.star for one in node.args):
        # More sizes than arguments: what is unpacked has a known length.
        known = len(given) > sum(one.keyword is None for one in node.args)
        return Extent(_numbers(one.value for one in given)) if known else Extent((), is_open=True)
    if len(given) != 1:
        return Extent(tuple(_size(frame, one) for one in given))
    alone = given[0]
    items = known_items(frame, alone.value)
    if items is not None:
        return Extent(_written_sizes(frame, alone.node, items))
    match alone.value:
        case Size(rank=Rank.ZERO):
            return Extent(())
        case Size():
            return Extent((), is_open=True)
        case Unknown() if _is_called_shape(alone.node):
            return Extent((), is_open=True)
    return Extent((_size(frame, alone),))


def _written_sizes(frame: Frame, node: cst.BaseExpression, items: tuple[Value, ...]) -> tuple[int | Place | None, ...]:
    """Return the sizes in a sequence: those that are no numbers are known as far as an expression writes them out."""
    written = node.elements if isinstance(node, (cst.Tuple, cst.List)) else ()
    if len(written) == len(items):
        return tuple(_size(frame, Argument(one, each.value)) for one, each in zip(items, written, strict=True))
    return _numbers(items)


def _numbers(values: Iterable[Value]) -> tuple[int | None, ...]:
    """Return sizes that the program does not write out one by one, as far as they are known numbers."""
    return tuple(one.value if isinstance(one, Const) and isinstance(one.value, int) else None for one in values)


def _size(frame: Frame, argument: Argument) -> int | Place:
    """Return one size: a number where it is known, else the expression for it."""
    match argument.value:
        case Const(value=int(number)):
            return number
    return frame.place(argument.node)


def _is_called_shape(node: cst.BaseExpression) -> bool:
    """Return whether an expression is called a shape, so that it stands for several sizes and not for one."""
    return (dotted_name(node) or "").rpartition(".")[2].lower().endswith(("shape", "sizes", "dims"))
