"""Autocast: the regions that its contexts open, and the dtypes to which it casts the operands of calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from devlint.domain.autocast import OFF, Autocast, AutocastRegion, low_dtype
from devlint.domain.device import KnownDevice
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, is_floating
from devlint.domain.objects import Instance
from devlint.domain.path_conditions import NO_CONDITION, Literal, PathCondition, conjoin
from devlint.domain.placement import placement_cases
from devlint.domain.value import NONE, UNKNOWN, ConditionalValue, Const, DeviceType, DeviceValue, SymbolicBool, Value
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.autocast import CastPolicy, cast_policy, default_low_dtype, is_never_cast
from devlint.semantics.table import Row

AUTOCAST_TYPE: Final = "device_type"
"""The attribute of an autocast context that holds the type of device for which it is on."""
AUTOCAST_DTYPE: Final = "dtype"
"""The attribute of an autocast context that holds its low dtype; None for the default of the type of device."""
AUTOCAST_ENABLED: Final = "enabled"
"""The attribute of an autocast context that holds whether it turns autocast on or off."""
HOST_LOW_DTYPES: Final = ("bfloat16", "float16")
"""The low dtypes that autocast takes on the host; with any other it warns and stays off."""
CAST: Final = ("float16", "bfloat16", "float32")
"""The dtypes that autocast casts: float64 stays as it is."""


# Regions


def autocast_regions(frame: Frame, context: Instance) -> Autocast:
    """Return the regions that an autocast context opens: one for each condition on which its arguments depend."""
    dtype = context.attributes.get(AUTOCAST_DTYPE, UNKNOWN)
    enabled = context.attributes.get(AUTOCAST_ENABLED, UNKNOWN)
    regions = []
    for when, type_ in _types_of(frame, context.attributes.get(AUTOCAST_TYPE, UNKNOWN)):
        name = default_low_dtype(type_ or "") if dtype == NONE else requested_dtype(dtype).name
        for test, is_on in _switches(enabled):
            under = when if test is None else conjoin(when, {test})
            if under is None:
                continue
            refused = type_ == "cpu" and name is not None and name not in HOST_LOW_DTYPES
            regions.append(AutocastRegion(type_, name, False if refused else is_on, under))
    return tuple(regions)


def _types_of(frame: Frame, value: Value) -> Iterator[tuple[PathCondition, str | None]]:
    """Yield the types of device that an argument may name, each with its condition; None for an unknown type."""
    match value:
        case Const(value=str(text)):
            yield NO_CONDITION, text.partition(":")[0]
        case DeviceType(placement=placement) | DeviceValue(placement=placement):
            for when, case in placement_cases(placement, frame.state.path_condition):
                known = isinstance(case.device, KnownDevice) and case.device.is_named
                yield when, case.device.type if known and isinstance(case.device, KnownDevice) else None
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            for side, literal in ((yes, test), (no, ~test)):
                for when, type_ in _types_of(frame, side):
                    under = conjoin(when, {literal})
                    if under is not None:
                        yield under, type_
        case _:
            yield NO_CONDITION, None


def _switches(enabled: Value) -> Iterator[tuple[Literal | None, bool | None]]:
    """Yield whether a context is on, by its argument `enabled`, under each condition; None where that is unknown."""
    match enabled:
        case Const(value=constant):
            yield None, bool(constant)
        case SymbolicBool(test=test):
            yield test, True
            yield ~test, False
        case _:
            yield None, None


def opened_regions(inside: object, around: Autocast, test: Literal | None = None) -> Iterator[AutocastRegion]:
    """Yield the regions that a context opens, given the settings inside and around it, each under one more condition.

    `inside` is None for a context that leaves autocast as it is.
    """
    for region in inside[: len(inside) - len(around)] if isinstance(inside, tuple) else ():
        when = region.when if test is None else conjoin(region.when, {test})
        if when is not None:
            yield replace(region, when=when)


# Casts


def cast_operands(
    frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand], *, out: bool
) -> list[Operand]:
    """Return the operands of a library call with the dtypes to which autocast casts them.

    A dtype is unknown where it depends on what is not known: the device, the region, or the operation's own insides.
    """
    if row.numpy or row.view or row.may_view or is_never_cast(row.name):
        return list(operands)
    widest = _widest_of(operands)
    return [
        replace(one, tensor=replace(one.tensor, dtype=dtype))
        if (dtype := _cast_dtype(frame, row, one, widest, out=out)) is not one.tensor.dtype
        else one
        for one in operands
    ]


def _widest_of(operands: Sequence[Operand]) -> str | None:
    """Return the dtype to which autocast promotes operands; None where an unknown one may be wider."""
    names = {one.tensor.dtype.name for one in operands}
    if "float32" in names:
        return "float32"
    floating = {name for name in names if is_floating(name)}
    return next(iter(floating)) if len(floating) == 1 and None not in names else None


def _cast_dtype(frame: Frame, row: Row, operand: Operand, widest: str | None, *, out: bool) -> Dtype:
    """Return the dtype that an operand of a call has once autocast has cast it."""
    dtype = operand.tensor.dtype
    if dtype.name is not None and dtype.name not in CAST:
        return dtype
    autocast, path_condition = frame.state.torch_state.autocast, frame.state.path_condition
    found: list[str | None] = []
    for when, case in placement_cases(operand.tensor.placement, path_condition):
        under = conjoin(path_condition, when)
        if under is None:
            continue
        known = isinstance(case.device, KnownDevice) and case.device.is_named
        types = (case.device.type,) if known and isinstance(case.device, KnownDevice) else ("cuda", "cpu", "")
        found.extend(_cast_name(row, dtype, one, low_dtype(autocast, one, under), widest, out=out) for one in types)
    if all(name == _UNCHANGED for name in found):
        return dtype
    names = {dtype.name if name == _UNCHANGED else name for name in found}
    (name,) = names if len(names) == 1 else (None,)
    if name is None or name == dtype.name:
        return UNKNOWN_DTYPE if name is None else dtype
    return Dtype(name, DtypeSource.COMPUTED)


_UNCHANGED: Final = "unchanged"
"""The answer of `_cast_name` for an operand that keeps its dtype."""


def _cast_name(
    row: Row, dtype: Dtype, device_type: str, low: str | None, widest: str | None, *, out: bool
) -> str | None:
    """Return the name of the dtype that an operand is cast to on one type of device; None where it is unknown."""
    if low == OFF:
        return _UNCHANGED
    policy: CastPolicy = cast_policy(row.name, device_type) if device_type else _shared_policy(row.name)
    if out and policy != "native":
        return None
    if policy == "native":
        return _UNCHANGED
    if policy == "unknown" or dtype.name is None:
        return None
    return {"lower": low, "float32": "float32", "promote": widest}[policy]


def _shared_policy(name: str) -> CastPolicy:
    """Return what autocast does to an operation on any type of device; "unknown" where the types differ."""
    policies = {cast_policy(name, one) for one in ("cuda", "cpu")}
    return policies.pop() if policies == {"native"} else "unknown"
