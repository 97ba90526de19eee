"""Structures of library calls' results, as the semantics table declares them: a tensor, a tuple, a list, a number."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, is_countable
from devlint.domain.objects import Sequence as SequenceObject
from devlint.domain.record import replace
from devlint.domain.value import (
    NONE,
    Array,
    DeviceType,
    DeviceValue,
    DtypeValue,
    Number,
    Size,
    StringPrefix,
    Tensor,
    Tuple,
    Value,
)
from devlint.interpreter.objects.library_objects import library_result
from devlint.interpreter.operations.result_dtypes import result_dtypes
from devlint.interpreter.operations.row_conditions import select_by_condition
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row


def structure_result(
    frame: Frame,
    row: Row,
    bound: BoundArguments,
    operands: Sequence[Operand],
    result: Tensor,
    node: cst.CSTNode,
    *,
    complete: bool = True,
) -> Value:
    """Return an operation's result in the structure that its semantics table row declares (`Row.returns`).

    Examples are a single tensor, a tuple, a list and a number.
    """
    returns = select_by_condition(bound, row.returns_if, row.returns, complete=complete) or "unknown"
    kind, _, names = returns.partition(":")
    match kind:
        case "tensor":
            return result
        case "self":
            receiver = bound.get("self") or bound.get("input") or bound.get(row.tensors[0] if row.tensors else "", [])
            return _after_mutation(receiver[0].value, result) if receiver else result
        case "none":
            return NONE
        case "number":
            return Number()
        case "bool":
            return Number("bool")
        case "string":
            return StringPrefix()
        case "size":
            return Size()
        case "dtype":
            return DtypeValue()
        case "device":
            return DeviceValue(result.placement)
        case "device-name":
            return DeviceType(result.placement, whole=True)
        case "array":
            return Array(result.dtype, rank=result.rank, memory=result.memory)
        case "list":
            return frame.allocate(node, SequenceObject(None, result, "tuple"))
        case "tuple" | "nested":
            return _named_tuple(result, result_dtypes(frame, row, bound, operands), names)
    return library_result(frame, row, bound, result, returns, node)


def _after_mutation(receiver: Value, result: Tensor) -> Value:
    """Return the tensor that an in-place operation has changed: no longer straight from its factory, transfer or cast.

    Its sizes may have changed.
    """
    if not isinstance(receiver, Tensor):
        return receiver
    grad = True if result.grad else receiver.grad
    return replace(receiver, fresh=None, moved=None, host_copy=None, grad=grad, empty_sizes=None)


def _named_tuple(first: Tensor, kinds: Sequence[Dtype], names: str) -> Value:
    """Return the tuple of tensors that an operation returns, with the item names of its semantics table row.

    `a,(b,c)` gives a nested tuple. Each tensor takes a dtype of its own when the row lists several; bool and integer
    tensors require no gradient.
    """

    def tensor(position: int) -> Tensor:
        if len(kinds) == 1 or position == 0:
            return first
        dtype = kinds[position] if position < len(kinds) else UNKNOWN_DTYPE
        return replace(first, dtype=dtype, grad=False if is_countable(dtype) else first.grad)

    position = 0
    items: list[Value] = []
    parsed = _parse_names(names)
    for part in parsed:
        if isinstance(part, list):
            items.append(Tuple(tuple(tensor(position + i) for i in range(len(part)))))
            position += len(part)
        else:
            items.append(tensor(position))
            position += 1
    flat = all(isinstance(part, str) for part in parsed)
    return Tuple(tuple(items), tuple(part for part in parsed if isinstance(part, str)) if flat else ())


def _parse_names(names: str) -> list[str | list[str]]:
    """Return the result names in a string such as `a,(b,c)` as a list; names in brackets become a list inside it."""
    outer, bracket, inner = names.partition("(")
    parts: list[str | list[str]] = [part for part in outer.split(",") if part]
    if bracket:
        parts.append([part for part in inner.rstrip(")").split(",") if part])
    return parts
