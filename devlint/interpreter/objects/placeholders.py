"""Attributes that methods set anew: what the constructor has put there may only stand in until then."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Registration, Sequence
from devlint.domain.value import NONE, Const, DeviceValue, Ref, Tensor, Tuple, Unknown, Value
from devlint.interpreter.objects.class_hierarchy import class_attributes, defined_class, program_classes
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.state.frame import Frame

MAX_DEPTH: Final = 3
"""Levels of containers in which tensors are looked for."""


def forget_placeholders_of_submodules(
    frame: Frame, reference: Ref, built: Collection[FunctionInfo], depth: int = 0
) -> None:
    """The same for the modules that an object is made of, whose methods may have been called in any order too."""
    thing = frame.instance(reference)
    if thing is None or depth > MAX_DEPTH:
        return
    for name, kind in thing.registered.items():
        if kind is not Registration.MODULE or name not in thing.attributes:
            continue
        for part in alternatives(thing.attributes[name]):
            inner = frame.instance(part)
            if inner is None or not isinstance(part, Ref):
                continue
            info = defined_class(inner.cls)
            if info is not None and any(_holds_plain_tensor(frame, one) for one in _plain(inner)):
                forget_placeholders(frame, part, info, None, built)
            forget_placeholders_of_submodules(frame, part, built, depth + 1)


def forget_placeholders(
    frame: Frame, reference: Ref, info: ClassInfo, method: FunctionInfo | None, built: Collection[FunctionInfo]
) -> None:
    """Before somebody calls a method: give up what others may have replaced by then, and what it replaces itself.

    `built` are the methods that have run while the object was made: what they set is what there is.
    """
    thing = frame.instance(reference)
    if thing is None:
        return
    standing = {*_standing_in(frame, info, thing)}
    if not standing:
        return
    names = set(method.replaces) if method is not None else set()
    for other in _methods(frame, info):
        if other is not method and other not in built:
            names |= other.sets if method is not None else other.replaces
    for name in sorted(names & standing):
        unset = Unknown(("attr", reference.address, name), f"self.{name}")
        thing = thing.with_attribute(name, unset)
    frame.put(reference.address, thing)


def _plain(thing: Instance) -> Iterator[Value]:
    return (value for name, value in thing.attributes.items() if name not in thing.registered)


def _methods(frame: Frame, info: ClassInfo) -> Iterator[FunctionInfo]:
    """The methods of a class and of those it inherits from, but for what makes the object."""
    for one in program_classes(frame, info):
        for name, method in one.methods.items():
            if name != "__init__":
                yield frame.analysis.method(method)


def _standing_in(frame: Frame, info: ClassInfo, thing: Instance) -> Iterator[str]:
    """The names of what a method may bring to its device later, or what says where that is."""
    for name, value in thing.attributes.items():
        if name not in thing.registered and any(_may_stand_in(frame, one) for one in alternatives(value)):
            yield name
    for name, value in class_attributes(frame, info).items():
        if name not in thing.attributes and isinstance(value, Tensor | DeviceValue):
            yield name


def _may_stand_in(frame: Frame, value: Value) -> bool:
    """Whether it is nothing yet, a device or the word for one ("auto"), or a tensor that has to be brought along."""
    word = isinstance(value, Const) and isinstance(value.value, str)
    return word or value == NONE or isinstance(value, DeviceValue) or _holds_plain_tensor(frame, value)


def _holds_plain_tensor(frame: Frame, value: Value, depth: int = 0) -> bool:
    if depth > MAX_DEPTH:
        return False
    match value:
        case Tensor(cell=cell):
            return cell is None
        case Tuple(items=items):
            return any(_holds_plain_tensor(frame, one, depth + 1) for one in items)
        case Ref(address=address):
            match frame.get(address):
                case Sequence(items=known, element=element):
                    return any(_holds_plain_tensor(frame, one, depth + 1) for one in (*(known or ()), element))
                case Dict(entries=entries, element=element):
                    parts = [*entries.values(), *([element] if element is not None else [])]
                    return any(_holds_plain_tensor(frame, one, depth + 1) for one in parts)
    return False
