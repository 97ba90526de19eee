"""Short texts for abstract values, for hover in editors, for reports of `reveal_placement` and for messages."""

from __future__ import annotations

from typing import Final

from devlint.domain.device import DeviceSymbol, KnownDevice
from devlint.domain.dtype import CATEGORY_NAMES, Dtype
from devlint.domain.placement import ConditionalPlacement, Placement, is_unknown_placement, placement_cases
from devlint.domain.value import (
    Array,
    ConditionalValue,
    Const,
    DeviceString,
    DeviceType,
    DeviceValue,
    DtypeValue,
    Number,
    OpaqueData,
    Rank,
    Size,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    TypeName,
    Value,
)

UNKNOWN: Final = "unknown"
"""The description of a value about which nothing is known."""


def describe_value(value: Value, *, conditions: bool = True) -> str:
    """Return a short text for an abstract value, which says what devlint knows of its device and dtype.

    Examples are `cuda:0 float32`, `cpu int64 0-dim`, `cuda, unknown dtype` and `unknown`. Without `conditions`, values
    that depend on conditions are only listed: `cuda|cpu float32`.
    """

    def on(placement: Placement) -> str:
        return describe_placement(placement, conditions=conditions)

    def part(one: Value) -> str:
        return describe_value(one, conditions=conditions)

    match value:
        case Tensor():
            return _describe_tensor(value, on(value.placement))
        case Array(dtype=dtype):
            return f"array {dtype.name}" if dtype.name else "array, unknown dtype"
        case OpaqueData(placement=placement):
            return f"batch {on(placement)}" if not is_unknown_placement(placement) else "batch, unknown device"
        case DeviceValue(placement=placement):
            return f"device {on(placement)}"
        case DeviceType(placement=placement, whole=whole):
            return f"{'name' if whole else 'type'} of device {on(placement)}"
        case DeviceString(placement=placement, rest=rest, is_open=is_open):
            return f"type of device {on(placement)} + '{rest}{'...' if is_open else ''}'"
        case TypeName(placement=placement):
            return f"type of a tensor on {on(placement)}"
        case DtypeValue(dtype=dtype):
            return f"dtype {describe_dtype(dtype) or UNKNOWN}"
        case Tuple(items=items):
            return f"({', '.join(part(one) for one in items)})"
        case ConditionalValue(yes=yes, no=no) if not conditions:
            return "|".join(dict.fromkeys((part(yes), part(no))))
        case ConditionalValue(test=test, yes=yes, no=no):
            how = f"if {test} else" if test is not None else "or"
            return f"({part(yes)} {how} {part(no)})"
    return _describe_plain(value)


def describe_placement(placement: Placement, *, conditions: bool = True) -> str:
    """Return a short text for a tensor's placement: `cuda:0`, `x.device`, `(cuda if use_gpu else cpu)`, `unknown`.

    Without `conditions`, the devices are only listed: `cuda|cpu`.
    """
    if isinstance(placement, ConditionalPlacement) and not conditions:
        return "|".join(dict.fromkeys(describe_placement(case) for _, case in placement_cases(placement)))
    if isinstance(placement, ConditionalPlacement):
        return f"({describe_placement(placement.yes)} if {placement.formula} else {describe_placement(placement.no)})"
    match placement.device:
        case KnownDevice() as device:
            return str(device)
        case DeviceSymbol(text=text):
            return _describe_symbol(text.strip("`"), "device")
    return UNKNOWN


def describe_dtype(dtype: Dtype) -> str:
    """Return a short text for a dtype: `float32`, `x.dtype`, `x.dtype or float`; "" for an unknown one.

    One that depends on a condition is `(float16 if half else float32)`.
    """
    if dtype.cases:
        (test, yes), (_, no) = dtype.cases
        return f"({describe_dtype(yes)} if {test.formula} else {describe_dtype(no)})"
    if dtype.symbol is None:
        return dtype.name or ""
    text = _describe_symbol(dtype.symbol.text, "dtype")
    return f"{text} or {CATEGORY_NAMES[dtype.symbol.category]}" if dtype.symbol.promoted else text


def _describe_symbol(text: str, kind: str) -> str:
    """Return a short text for an unknown device or dtype (`kind`) that is named after an object of the program.

    For an object `x` it is `x.device`; for an object whose own name contains "device", it is that name.
    """
    last = text.rpartition(".")[2]
    if not text.isascii() or not all(part.isidentifier() for part in text.split(".")):
        return f"{text}'s {kind}"
    return text if kind in last else f"{text}.{kind}"


def _describe_tensor(tensor: Tensor, device: str) -> str:
    """Return a short text for a tensor: its device, its dtype, and whether it is 0-dim or a parameter.

    The text also says which of device and dtype is unknown. `device` is the text for its placement.
    """
    known = [
        device if not is_unknown_placement(tensor.placement) else "",
        describe_dtype(tensor.dtype),
        "0-dim" if tensor.rank is Rank.ZERO else "",
        "parameter" if tensor.cell is not None and tensor.leaf else "",
    ]
    missing = [word for word, lacks in (("device", not known[0]), ("dtype", not known[1])) if lacks]
    text = " ".join(word for word in known if word) or "tensor"
    return f"{text}, unknown {' and '.join(missing)}" if missing else text


def _describe_plain(value: Value) -> str:
    """Return a short text for a constant, number, boolean, string or tensor shape; `unknown` for any other value."""
    match value:
        case Const(value=constant):
            return repr(constant)
        case Number(kind=kind):
            return kind or "number"
        case SymbolicBool(test=test):
            return f"whether {test}"
        case StringPrefix(prefix=prefix):
            return f"'{prefix}...'"
        case Size(rank=rank):
            return f"shape {rank.value}"
    return UNKNOWN
