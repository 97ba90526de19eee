"""Whether devices, device types and tensor types are equal, as conditions on the device."""

from __future__ import annotations

from collections.abc import Hashable

import libcst as cst

from devlint.domain.device import ACCELERATOR, HOST, UNPLACED, DeviceRelation, DeviceSymbol, KnownDevice, relate_devices
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.placement import ConditionalPlacement, Placement, PlacementCase
from devlint.domain.value import (
    ConditionalValue,
    Const,
    DeviceValue,
    Number,
    SymbolicBool,
    TypeName,
    Unknown,
    Value,
    named_placement,
)
from devlint.interpreter.conditions.abstract_bools import choose_bool, condition_text, undecided_bool
from devlint.interpreter.operations.tensor_types import legacy_type
from devlint.interpreter.state.device_facts import CURRENT_ACCELERATOR, device_type_atom
from devlint.interpreter.state.frame import Frame


def types_equal(frame: Frame, node: cst.Comparison, a: Value, b: Value) -> Value:
    """Return whether two tensor types, as `x.type()` returns them, have the same device type and the same dtype."""
    placements = [_placement_of_type(frame, one) for one in (a, b)]
    devices = [one.device for one in placements if isinstance(one, PlacementCase)]
    if len(devices) == 2 and relate_devices(*devices) is DeviceRelation.DIFFERENT:
        return Const(False)
    asked = frozenset(one.origin for one in devices if isinstance(one, DeviceSymbol))
    return SymbolicBool(Literal(Atom(("same type", asked, frame.site_key(node)), condition_text(frame, node))))


def _placement_of_type(frame: Frame, value: Value) -> Placement | None:
    """Return the placement that a tensor type such as "torch.cuda.FloatTensor" implies; None for any other value."""
    match value:
        case TypeName(placement=placement):
            return placement
        case Const(value=str(name)):
            found = legacy_type(frame, name, None)
            return found[0] if found is not None else None
    return None


def devices_equal(frame: Frame, node: cst.Comparison, a: Value, b: Value) -> Value:
    """Return the abstract bool that says whether two devices are equal on the current path.

    A device written as a string is compared by its type only, which is what programs mean by the comparison.
    """
    if isinstance(b, ConditionalValue):
        a, b = b, a
    match a:
        case ConditionalValue(test=Literal() as test, yes=yes, no=no):
            return choose_bool(test, devices_equal(frame, node, yes, b), devices_equal(frame, node, no, b))
        case Const(value=None):
            return Const(False)
    left, right = _placement_of_device(a), _placement_of_device(b)
    return same_device(frame, node, left, right) if left is not None and right is not None else Number("bool")


def _placement_of_device(value: Value) -> Placement | None:
    """Return the placement that a device value, a device string or a named unknown denotes; None for other values."""
    match value:
        case DeviceValue(placement=placement):
            return placement
        case Const(value=str(text)):
            return PlacementCase(KnownDevice(text.partition(":")[0]))
        case Unknown(origin=origin, text=text) if origin is not None:
            return named_placement(origin, text)
    return None


def named_device(origin: Hashable, text: str) -> Placement:
    """Return the placement of a named unknown value that is compared with a device type such as "cuda".

    The value is either a device or the `.type` of a device; in both cases the placement is that of the device.
    """
    if isinstance(origin, tuple) and origin[0] == "attr" and origin[2] == "type":
        origin, text = origin[1], text.removesuffix(".type")
    return named_placement(origin, text)


def same_device(frame: Frame, node: cst.Comparison, left: Placement, right: Placement) -> Value:
    """Return whether two placements are the same device, as a constant or symbolic bool."""
    if isinstance(right, ConditionalPlacement):
        left, right = right, left
    if isinstance(left, ConditionalPlacement):
        yes, no = same_device(frame, node, left.yes, right), same_device(frame, node, left.no, right)
        return choose_bool(Literal(left.formula), yes, no)
    assert isinstance(right, PlacementCase)
    for device, other in ((left.device, right), (right.device, left)):
        if isinstance(device, KnownDevice):
            return device_type_condition(frame, other, device.type, node)
    match left.device, right.device:
        case DeviceSymbol(origin=first), DeviceSymbol(origin=second):
            if first == second:
                return Const(True)
            return SymbolicBool(Literal(Atom(("same device", frozenset({first, second})), condition_text(frame, node))))
    return undecided_bool(frame, node)


def device_type_condition(frame: Frame, placement: Placement, type_: str, node: cst.CSTNode) -> Value:
    """Return whether the device of a placement has a type such as "cuda", as a constant or symbolic bool."""
    if isinstance(placement, ConditionalPlacement):
        return choose_bool(
            Literal(placement.formula),
            device_type_condition(frame, placement.yes, type_, node),
            device_type_condition(frame, placement.no, type_, node),
        )
    match placement.device:
        case KnownDevice(type=known) if known != type_ and ACCELERATOR in (known, type_):
            named = type_ if known == ACCELERATOR else known
            if named == HOST or named in UNPLACED:
                return Const(False)
            return SymbolicBool(Literal(device_type_atom(CURRENT_ACCELERATOR, named, condition_text(frame, node))))
        case KnownDevice(type=known):
            return Const(known == type_)
        case DeviceSymbol(origin=origin):
            return SymbolicBool(Literal(device_type_atom(origin, type_, condition_text(frame, node))))
    return undecided_bool(frame, node)
