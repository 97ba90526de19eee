"""Values in words, as hover, `reveal_placement` and messages show them."""

from __future__ import annotations

from devlint.values.device import Known, Symbol
from devlint.values.placement import Choice, Placement
from devlint.values.value import (
    Array,
    Batch,
    Const,
    DeviceType,
    DeviceValue,
    DtypeValue,
    Either,
    Number,
    Rank,
    Tensor,
    Tuple,
    Value,
)


def describe(value: Value) -> str:
    """A value as one short phrase: `cuda:0 float32`, `cpu int64 0-dim`, `unknown`."""
    match value:
        case Tensor(placement=placement, dtype=dtype, rank=rank):
            words = [describe_placement(placement), dtype.name or "unknown dtype"]
            if rank is Rank.ZERO:
                words.append("0-dim")
            if value.cell is not None:
                words.append("parameter")
            return " ".join(words)
        case Array(dtype=dtype):
            return f"array {dtype.name or 'unknown dtype'}"
        case Batch(placement=placement):
            return f"something on {describe_placement(placement)}"
        case DeviceValue(placement=placement) | DeviceType(placement=placement):
            return f"device {describe_placement(placement)}"
        case DtypeValue(dtype=dtype):
            return f"dtype {dtype.name or 'unknown'}"
        case Tuple(items=items):
            return f"({', '.join(describe(one) for one in items)})"
        case Const(value=constant):
            return repr(constant)
        case Number(kind=kind):
            return kind or "number"
        case Either(test=test, yes=yes, no=no):
            return f"{describe(yes)} if {test} else {describe(no)}" if test is not None else f"{describe(yes)} or {describe(no)}"
    return "unknown"


def describe_placement(placement: Placement) -> str:
    """A placement as a phrase."""
    if isinstance(placement, Choice):
        return f"({describe_placement(placement.yes)} if {placement.formula} else {describe_placement(placement.no)})"
    device = placement.device
    if isinstance(device, (Known, Symbol)):
        return str(device)
    return "unknown"
