"""Placeholder attributes: values, set in a constructor, that another method replaces before the object is used."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Final

from devlint.domain.held_values import with_changed_values, without_sizes
from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Registration, Sequence
from devlint.domain.value import NONE, Const, DeviceValue, Ref, Tensor, Tuple, Unknown, Value
from devlint.interpreter.objects.class_hierarchy import (
    class_attributes,
    classes_with_empty_tensors,
    defined_class,
    later_methods,
    program_classes,
)
from devlint.interpreter.objects.later_stores import stored_later
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.program.self_attributes import ANY_ATTRIBUTE
from devlint.interpreter.state.frame import Frame

MAX_DEPTH: Final = 3
"""Levels of submodules and containers that are searched for tensors."""


def forget_placeholders_of_submodules(
    frame: Frame, reference: Ref, built: Collection[FunctionInfo], depth: int = 0
) -> None:
    """Make attributes of an object's submodules unknown, recursively, where a method may have replaced the value.

    The methods of submodules may have been called in any order, like those of the object itself.
    """
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
            if info is not None and any(_holds_plain_tensor(frame, one) for one in _plain_values(inner)):
                forget_placeholders(frame, part, info, None, built)
            forget_placeholders_of_submodules(frame, part, built, depth + 1)


def forget_placeholders(
    frame: Frame, reference: Ref, info: ClassInfo, method: FunctionInfo | None, built: Collection[FunctionInfo]
) -> None:
    """Make placeholder attributes of an object unknown before code outside the analysis calls a method.

    A placeholder is a value that a constructor sets and another method replaces. Affected are the attributes that
    `method` replaces before it reads them and those that other methods may have set by then. `built` are the methods
    that have run during construction, whose assignments the state contains already. Without a `method` (for
    submodules), affected are the attributes that any other method replaces before it reads them. A container counts as
    replaced where one of its items is.
    """
    thing = frame.instance(reference)
    if thing is None:
        return
    placeholders = {*_placeholder_names(frame, info, thing)}
    if not placeholders:
        return
    containers = {name for name in placeholders if _is_container(frame, thing.attributes.get(name))}
    names = set(method.attributes_bound_before_read) if method is not None else set()
    if method is not None and containers:
        names |= method.item_stores.before_read & containers
    for other in later_methods(frame, info):
        if other is method or other in built:
            continue
        names |= other.bound_attributes if method is not None else other.attributes_bound_before_read
        if containers:
            stores = other.item_stores
            names |= (stores.stored if method is not None else stores.before_read) & containers
    others = [one for one in later_methods(frame, info) if one not in built]
    for name in sorted(placeholders if ANY_ATTRIBUTE in names else names & placeholders):
        before = thing.attributes.get(name)
        later = None
        if before is not None and ANY_ATTRIBUTE not in names and not _is_replaced_from_outside(frame, info, name):
            later = stored_later(frame, before, name, others)
        thing = thing.with_attribute(name, _unknown_attribute(reference, name) if later is None else later)
    frame.put(reference.address, thing)


def forget_tensors_replaced_from_outside(frame: Frame, reference: Ref, info: ClassInfo, given: Collection[str]) -> None:
    """Make the tensors of an unknown caller's object unknown where code outside of its class may move them.

    The caller may have run `state.scale = state.scale.to(device)`. The attributes `given` hold what the caller has put
    there itself.
    """
    thing = frame.instance(reference)
    if thing is None:
        return
    held = [name for name in thing.attributes if name not in given and name not in thing.registered]
    tensors = [
        name for name in held if any(_holds_plain_tensor(frame, one) for one in alternatives(thing.attributes[name]))
    ]
    forget_attributes(frame, reference, [name for name in tensors if _is_replaced_from_outside(frame, info, name)])


def empty_placeholders(frame: Frame, reference: Ref, method: FunctionInfo) -> list[str]:
    """Return the attributes of an object that hold a tensor without elements until a method replaces it.

    The first call of the method finds that tensor, and a later call what the method has put in its place.
    """
    thing = frame.instance(reference)
    info = defined_class(thing.cls) if thing is not None else None
    if thing is None or info is None:
        return []
    values = {**class_attributes(frame, info), **thing.attributes}
    empty = [
        name for name, value in values.items() if name not in thing.registered and without_sizes(value) is not value
    ]
    # The attributes that a method binds are asked for last, because they must be read from its syntax.
    return sorted({*empty} & method.bound_attributes) if empty else []


def forget_attributes(frame: Frame, reference: Ref, names: Iterable[str]) -> None:
    """Make attributes of an object unknown: each holds a value that the analysis has not seen."""
    thing = frame.instance(reference)
    if thing is None:
        return
    for name in names:
        thing = thing.with_attribute(name, _unknown_attribute(reference, name))
    frame.put(reference.address, thing)


def _unknown_attribute(reference: Ref, name: str) -> Unknown:
    """Return the value of an object's attribute that holds what the analysis has not seen."""
    return Unknown(("attr", reference.address, name), f"self.{name}")


def forget_sizes_of_placeholders(frame: Frame, reference: Ref) -> None:
    """Forget that tensors held by objects have no elements, before code outside the analysis calls a method.

    An earlier call may have put another tensor there. A plain attribute that no method of the class binds keeps its
    sizes, and so do the plain attributes of the object `reference` whose methods are called; a buffer may have got
    others with the module's saved state, and a container in any way.
    """
    heap = frame.state.heap
    classes = classes_with_empty_tensors(frame)
    holders = heap.tensor_holders()
    if classes:
        # An object shows the attributes of its class without holding them.
        holders = [one for one in heap.objects() if isinstance(one[1], Instance)] + [
            one for one in holders if not isinstance(one[1], Instance)
        ]
    for address, thing in holders:
        if isinstance(thing, Instance):
            changed = _attributes_without_sizes(frame, thing, receives=address == reference.address)
            if changed:
                frame.put(address, replace(thing, attributes={**thing.attributes, **changed}))
        else:
            kept = with_changed_values(thing, without_sizes, without_sizes)
            if kept is not thing:
                frame.put(address, kept)


def _attributes_without_sizes(frame: Frame, thing: Instance, *, receives: bool) -> dict[str, Value]:
    """Return the attributes of an object whose tensors may have elements by now, with values that say so.

    `receives` is whether it is the object whose methods are called.
    """
    info = defined_class(thing.cls)
    values: dict[str, Value] = {}
    if info is not None and not frame.analysis.classes_with_empty_tensors.isdisjoint(program_classes(frame, info)):
        values.update(class_attributes(frame, info))
    values.update(thing.attributes)
    changed = {name: kept for name, value in values.items() if (kept := without_sizes(value)) is not value}
    if not changed or info is None:
        return changed
    methods = () if receives else later_methods(frame, info)
    bound = {name for method in methods for name in method.bound_attributes}
    return {name: one for name, one in changed.items() if name in bound | {*thing.registered} or ANY_ATTRIBUTE in bound}


def _is_replaced_from_outside(frame: Frame, info: ClassInfo, name: str) -> bool:
    """Return whether code outside of a class may put something on a device into an attribute of its objects."""
    return frame.analysis.facts.outside_moves.may_replace(name, info.module, inside=False)


def _is_container(frame: Frame, value: Value | None) -> bool:
    """Return whether a value is a list or dict, so that an assignment to an item replaces what it holds."""
    return value is not None and any(isinstance(frame.object_of(one), (Sequence, Dict)) for one in alternatives(value))


def _plain_values(thing: Instance) -> Iterator[Value]:
    """Yield the values of a module's attributes that are not registered as parameter, buffer or submodule."""
    return (value for name, value in thing.attributes.items() if name not in thing.registered)


def _placeholder_names(frame: Frame, info: ClassInfo, thing: Instance) -> Iterator[str]:
    """Yield the names of attributes that may be placeholders for a tensor on its final device, or for a device.

    A placeholder is a value set in the constructor or the class body that another method may replace later.
    """
    for name, value in thing.attributes.items():
        if name not in thing.registered and any(_may_be_placeholder(frame, one) for one in alternatives(value)):
            yield name
    for name, value in class_attributes(frame, info).items():
        if name not in thing.attributes and isinstance(value, Tensor | DeviceValue):
            yield name


def _may_be_placeholder(frame: Frame, value: Value) -> bool:
    """Return whether a constructor may set an attribute to a value only until another method replaces the value.

    True for None, a string such as "auto", a device, and a tensor that is not a parameter.
    """
    word = isinstance(value, Const) and isinstance(value.value, str)
    return word or value == NONE or isinstance(value, DeviceValue) or _holds_plain_tensor(frame, value)


def _holds_plain_tensor(frame: Frame, value: Value, depth: int = 0) -> bool:
    """Return whether a value is, or contains at most `MAX_DEPTH` levels deep, a tensor that is not a parameter."""
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
