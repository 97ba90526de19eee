"""The values of `part in whole`, for containers, strings and types of devices."""

from __future__ import annotations

from collections.abc import Collection
from functools import reduce
from typing import Final

import libcst as cst

from devlint.domain.device import DEVICE_TYPES, HOST
from devlint.domain.objects import Dict, Sequence
from devlint.domain.path_conditions import Atom, Literal, conditional, disjunction
from devlint.domain.questions import membership_question
from devlint.domain.value import (
    AllocationSite,
    ClassOf,
    ConditionalValue,
    Const,
    DeviceType,
    LibraryName,
    Number,
    ProgramDefinition,
    Ref,
    SymbolicBool,
    Tuple,
    TypeName,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.abstract_bools import condition_text, undecided_bool
from devlint.interpreter.conditions.class_comparisons import is_class
from devlint.interpreter.conditions.device_equality import device_type_condition, named_device
from devlint.interpreter.state.frame import Frame

_DISPLAYS: Final = frozenset({cst.List, cst.Set})
"""The node types of containers that are written out where they are searched, so that nothing can change them before."""


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
    known = _is_class_among(frame, whole, text)
    if known is None:
        known = _is_member(frame, node, text, whole)
    if isinstance(known, Literal):
        return SymbolicBool(known)
    return Const(known) if known is not None else undecided_bool(frame, node)


def _is_member(frame: Frame, node: cst.Comparison, part: Value, whole: Value) -> Literal | bool | None:
    """Return whether a value is in a container, or the condition under which it is; None if unknown.

    Whether a named value is one of several constants is a question about it, which is asked wherever these are listed.
    """
    if isinstance(part, ConditionalValue):
        yes, no = _is_member(frame, node, part.yes, whole), _is_member(frame, node, part.no, whole)
        if part.test is None or yes is None or no is None:
            return None
        return conditional(part.test, yes, no)
    answer = _is_contained(frame, whole, part) if isinstance(part, Const) else None
    subject = part if isinstance(part, Const) else part.origin if isinstance(part, (Unknown, Number)) else None
    if answer is not None or subject is None:
        return answer
    items = _items(frame, whole)
    if not items or not all(isinstance(one, Const) for one in items):
        return None
    constants = frozenset(one.value for one in items if isinstance(one, Const))
    if isinstance(part, Const):
        is_display = type(node.comparisons[0].comparator) in _DISPLAYS
        return False if is_display else Literal(Atom(("compare", "In", part, constants), condition_text(frame, node)))
    asked = membership_question(subject, constants)
    return Literal(Atom(("compare", "In", subject, constants), condition_text(frame, node), question=asked))


def _items(frame: Frame, whole: Value) -> Collection[Value] | None:
    """Return the items of a tuple, list or set, or the keys of a dict, if all of them are known."""
    match frame.object_of(whole):
        case Sequence(items=tuple() as items):
            return items
        case Dict(entries=entries, optional=optional, element=None, object=None, is_open=False) if not optional:
            return [Const(one) for one in entries]
    return whole.items if isinstance(whole, Tuple) else None


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
