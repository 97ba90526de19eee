"""The structure in which a library call hands its result back."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.flow.operands import Bound, operands_of
from devlint.flow.result_dtypes import result_dtype
from devlint.flow.run import Run
from devlint.semantics.table import Row
from devlint.values.dtype import UNKNOWN_DTYPE
from devlint.values.heap import Sequence as SequenceObject
from devlint.values.value import NONE, UNKNOWN, Const, Number, Rank, Tensor, Text, Tuple, Value


def returned(run: Run, row: Row, bound: Bound, result: Tensor, node: cst.CSTNode) -> Value:
    """The result in the structure the call returns."""
    returns = row.returns
    for name, form in row.returns_if.items():
        given = bound.get(name)
        if given is None or given[0].value in (NONE, Const(False)):
            continue
        if name != "dim" or not isinstance(given[0].value, Tensor):
            returns = form
            break
    kind, _, names = returns.partition(":")
    match kind:
        case "tensor":
            return result
        case "self":
            receiver = bound.get("self") or bound.get("input") or bound.get(row.tensors[0] if row.tensors else "", [])
            return _mutated(receiver[0].value, result) if receiver else result
        case "none":
            return NONE
        case "number":
            return Number()
        case "bool":
            return Number("bool")
        case "string":
            return Text()
        case "list":
            return run.allocate(node, SequenceObject(None, replace(result, rank=Rank.ANY), "tuple"))
        case "tuple" | "nested":
            return _named_tuple(run, row, bound, result, names, node)
    return UNKNOWN


def _mutated(receiver: Value, result: Tensor) -> Value:
    """The receiver after an in-place operation: the same tensor, no longer fresh."""
    if not isinstance(receiver, Tensor):
        return receiver
    grad = True if result.grad else receiver.grad
    return replace(receiver, fresh=None, grad=grad)


def _named_tuple(run: Run, row: Row, bound: Bound, result: Tensor, names: str, node: cst.CSTNode) -> Value:
    """A tuple of tensors; `a,(b,c)` nests. Each takes its own dtype when the row lists several."""
    dtypes = list(row.dtype) if isinstance(row.dtype, tuple) else []
    operands = operands_of(run, row, bound)

    def tensor(position: int) -> Value:
        if position < len(dtypes):
            return replace(result, dtype=result_dtype(run, dtypes[position], row, bound, operands, node))
        return result if position == 0 else replace(result, dtype=UNKNOWN_DTYPE if not dtypes else result.dtype)

    parsed = _parse_names(names)
    position = 0
    items: list[Value] = []
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
    outer, bracket, inner = names.partition("(")
    parts: list[str | list[str]] = [part for part in outer.split(",") if part]
    if bracket:
        parts.append([part for part in inner.rstrip(")").split(",") if part])
    return parts
