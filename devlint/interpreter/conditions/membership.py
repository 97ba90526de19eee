"""The values of `part in whole`, for containers, strings and types of devices."""

from __future__ import annotations

from functools import reduce

import libcst as cst

from devlint.domain.device import DEVICE_TYPES, HOST
from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import Literal, disjunction
from devlint.domain.value import (
    AllocationSite,
    ClassOf,
    Const,
    DeviceType,
    LibraryName,
    ProgramDefinition,
    Ref,
    SymbolicBool,
    Tuple,
    TypeName,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.abstract_bools import undecided_bool
from devlint.interpreter.conditions.class_comparisons import is_class
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
    known = _is_contained(frame, whole, text) if isinstance(text, Const) else _is_class_among(frame, whole, text)
    if isinstance(known, Literal):
        return SymbolicBool(known)
    return Const(known) if known is not None else undecided_bool(frame, node)


def _is_class_among(frame: Frame, whole: Value, cls: Value) -> Literal | bool | None:
    """Return whether a class, as `type(x)` returns it, is one of several, or the condition under which it is."""
    thing = frame.object_of(whole)
    items = whole.items if isinstance(whole, Tuple) else thing.items if isinstance(thing, Sequence) else None
    if not items or not isinstance(cls, (ClassOf, LibraryName, ProgramDefinition)):
        return None
    answers = [is_class(frame, cls, one) for one in items]
    if True in answers:
        return True
    if None in answers:
        return None
    open_ = [one for one in answers if isinstance(one, Literal)]
    return reduce(disjunction, open_) if open_ else False


def _is_contained(frame: Frame, whole: Value, part: Const) -> Literal | bool | None:
    """Return whether a constant is in a container, or the condition under which it is; None if unknown.

    The answer is None for a constant that a list or a dict lacks, since code that devlint does not follow may add it,
    except for a dict that the function being run has made and kept from such code.
    """
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
