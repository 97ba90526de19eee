"""Tensors without elements: the sizes of those that a program makes as placeholders, such as `torch.zeros(0, 0)`.

A program that takes such a tensor for "nothing yet" tests its sizes before it uses it. Only the sizes of tensors
without elements are kept: they decide those tests, while the sizes of other tensors mostly come from data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import libcst as cst

from devlint.domain.objects import Sequence as SequenceObject
from devlint.domain.value import Const, Number, Size, Sizes, Tensor, Tuple, Value
from devlint.interpreter.state.arguments import Argument, BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

_COPYING: Final = frozenset({"contiguous", "clone", "detach"})
"""The operations that return their operand's elements in the operand's sizes."""


def empty_sizes_of_result(
    frame: Frame, row: Row, bound: BoundArguments, operands: list[Operand], node: cst.CSTNode
) -> Sizes | None:
    """Return the sizes of a library call's result if it surely has no elements, else None.

    Known are the results of factories with sizes or data, and of copies.
    """
    kind, _, argument = row.rank.partition(":")
    match kind:
        case "shape" if row.factory or row.device.startswith("kwarg"):
            given = next((bound[name] for name in (argument, "size", "shape") if bound.get(name)), None)
            return empty_sizes_of_shape(frame, given) if given is not None and not _is_unpacking(node) else None
        case "data":
            given = bound.get(argument or "data")
            return empty_sizes_of_data(frame, given[0].value) if given else None
        case "same":
            name = row.name.rpartition(".")[2]
            if name in _COPYING or name.endswith("_like"):
                return next((one.tensor.empty_sizes for one in operands if one.name == argument), None)
    return None


def empty_sizes_of_shape(frame: Frame, given: Sequence[Argument]) -> Sizes | None:
    """Return the sizes that a factory's size arguments give if one of them is 0, else None.

    They are numbers, or one sequence of numbers.
    """
    if len(given) != 1:
        return _if_empty(one.value for one in given)
    if isinstance(given[0].value, Size):
        return given[0].value.empty_sizes
    items = known_items(frame, given[0].value)
    return _if_empty(items if items is not None else [given[0].value])


def empty_sizes_of_data(frame: Frame, data: Value) -> Sizes | None:
    """Return the sizes of a tensor made from data if the data surely has no elements, as `[]` or `[[]]`, else None."""
    if isinstance(data, Tensor):
        return data.empty_sizes
    items = known_items(frame, data)
    if items is None:
        return None
    if not items:
        return (0,)
    return (len(items), 0) if all(known_items(frame, one) == () for one in items) else None


def size_of(sizes: Sizes, dimension: Value) -> Value:
    """Return the size of one dimension as a value: a constant where the sizes and the dimension's number are known."""
    match dimension:
        case Const(value=int(number)) if -len(sizes) <= number < len(sizes):
            return size_values(sizes)[number]
    return Number("int")


def size_values(sizes: Sizes) -> tuple[Value, ...]:
    """Return sizes as values: constants, and integers of unknown value."""
    return tuple(Const(one) if one is not None else Number("int") for one in sizes)


def empty_sizes_of_item(sizes: Sizes | None, indices: Sequence[Value | None]) -> Sizes | None:
    """Return the sizes of a part of a tensor without elements; in `indices`, Python's None stands for a slice.

    Of a dimension without elements, a slice takes none. The result is None where the part may have elements, and for
    indices other than slices and constant numbers.
    """
    if sizes is None or len(indices) > len(sizes):
        return None
    left: list[int | None] = []
    for size, index in zip(sizes, indices, strict=False):
        if index is None:
            left.append(0 if size == 0 else None)
        elif not isinstance(index, Const) or type(index.value) is not int:
            return None
    left.extend(sizes[len(indices) :])
    return tuple(left) if 0 in left else None


def _is_unpacking(node: cst.CSTNode) -> bool:
    """Return whether a call unpacks a sequence into its arguments, so that their number may be unknown."""
    return isinstance(node, cst.Call) and any(one.star for one in node.args)


def known_items(frame: Frame, value: Value) -> tuple[Value, ...] | None:
    """Return the values in a tuple or list of known length; None for any other value."""
    if isinstance(value, Tuple):
        return value.items
    thing = frame.object_of(value)
    return thing.items if isinstance(thing, SequenceObject) else None


def _if_empty(values: Iterable[Value]) -> Sizes | None:
    """Return size arguments as sizes if one of them is 0, else None."""
    sizes = tuple(one.value if isinstance(one, Const) and type(one.value) is int else None for one in values)
    return sizes if 0 in sizes else None
