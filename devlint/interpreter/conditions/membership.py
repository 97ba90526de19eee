"""The values of `part in whole`, for containers, strings and types of devices."""

from __future__ import annotations

import libcst as cst

from devlint.domain.device import DEVICE_TYPES, HOST
from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import Literal
from devlint.domain.value import AllocationSite, Const, DeviceType, Ref, SymbolicBool, Tuple, TypeName, Unknown, Value
from devlint.interpreter.conditions.abstract_bools import undecided_bool
from devlint.interpreter.conditions.device_equality import device_type_condition, named_device
from devlint.interpreter.state.frame import Frame


def evaluate_membership(frame: Frame, node: cst.Comparison, text: Value, whole: Value) -> Value:
    """Return the abstract bool for `part in whole`.

    If `part` is a device type's name such as "cuda" and `whole` is a device or type string, the device type is tested.
    """
    if isinstance(text, Const) and text.value in DEVICE_TYPES:
        match whole:
            case DeviceType(placement=placement):
                return device_type_condition(frame, placement, str(text.value), node)
            case TypeName(placement=placement) if text.value != HOST:
                return device_type_condition(frame, placement, str(text.value), node)
            case Unknown(origin=origin, text=name) if origin is not None:
                return device_type_condition(frame, named_device(origin, name), str(text.value), node)
    known = _is_contained(frame, whole, text)
    if isinstance(known, Literal):
        return SymbolicBool(known)
    return Const(known) if known is not None else undecided_bool(frame, node)


def _is_contained(frame: Frame, whole: Value, part: Value) -> Literal | bool | None:
    """Return whether a constant is in a container, or the condition under which it is; None if unknown.

    The answer is None for a constant that a list or a dict lacks, since code that devlint does not follow may add it,
    except for a dict that the function being run has made and kept from such code.
    """
    if not isinstance(part, Const):
        return None
    match whole:
        case Tuple(items=items) if part in items or all(isinstance(one, Const) for one in items):
            return part in items
        case Ref(address=address):
            match frame.get(address):
                case Sequence(items=tuple() as items) if part in items:
                    return True
                case Dict(entries=entries, optional=perhaps, is_open=is_open) if part.value in entries:
                    return True if part.value not in perhaps else None if is_open else perhaps[part.value]
                case Dict(element=None, object=None, is_open=False) if _is_of_this_call(frame, address):
                    return False
    return None


def _is_of_this_call(frame: Frame, address: AllocationSite) -> bool:
    """Return whether the function being run has made the object at an allocation site, in this call of it."""
    return frame.function is not None and address.context == frame.context
