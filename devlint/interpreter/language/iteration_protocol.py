"""The iteration protocol: the elements that a `for` loop, an unpacking or a star gets from each kind of value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.join import alternatives, any_opaque_part, is_number_or_tensor, join, opaque_part
from devlint.domain.objects import Dict, Instance, ParameterCell, Sequence, join_all, key_value
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    Number,
    OpaqueData,
    ProgramDefinition,
    Rank,
    Ref,
    Size,
    StringPrefix,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.instance_checks import restrict_alternatives
from devlint.interpreter.modules.library_methods import call_library_method
from devlint.interpreter.objects.enums import enum_members
from devlint.interpreter.objects.library_objects import find_member_row
from devlint.interpreter.objects.module_containers import container_class, iterate_container
from devlint.interpreter.objects.unseen_parts import as_unseen_part
from devlint.interpreter.operations.empty_tensors import size_values
from devlint.interpreter.operations.result_tensors import element_tensor
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import find_iteration_model

MAX_UNROLLED: Final = 6
"""The length up to which a known sequence is iterated element by element.

In a longer sequence, one element stands for all.
"""

MAX_UNROLLED_OBJECTS: Final = 16
"""The same for a sequence of objects, such as the layers of a network: none of them can stand for the others."""


def iterate(frame: Frame, value: Value, node: cst.BaseExpression) -> Sequence:
    """Return the elements of a value: each one if they are known and few, else one element that stands for all."""
    match value:
        case Tuple(items=items):
            return _limit_unrolling(Sequence(items, kind="tuple"))
        case Const(value=str(text)):
            return _limit_unrolling(Sequence(tuple(Const(one) for one in text)))
        case Tensor():
            # One element stands for all: each is another part of the tensor's memory, so no memory is recorded.
            return Sequence(None, replace(element_tensor(frame, value), memory=None))
        case Array():
            return Sequence(None, replace(value, fresh=None, memory=None, rank=value.rank.fewer))
        case OpaqueData():
            return Sequence(None, any_opaque_part(value))
        case Unknown(origin=origin, text=text) if origin is not None:
            element = Unknown(("element", origin), f"an element of {text}" if text else "", cast=value.cast)
            return Sequence(None, element, filled=frame.analysis.length_conditions.get(origin))
        case Unknown(element=OpaqueData() as element):
            return Sequence(None, element)
        case StringPrefix():
            return Sequence(None, StringPrefix())
        case ProgramDefinition(definition=ClassInfo() as info):
            members = enum_members(frame, info)
            return _limit_unrolling(Sequence(tuple(members.values()))) if members else Sequence(None, UNKNOWN)
        case Size(empty_sizes=sizes):
            return Sequence(None, Number("int")) if sizes is None else Sequence(size_values(sizes))
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence):
                return _limit_unrolling(thing)
            if isinstance(thing, Dict):
                return _limit_unrolling(keys_of(value, thing))
            if isinstance(thing, Instance):
                return iterate_instance(frame, value, thing, node)
            if isinstance(thing, ParameterCell):
                return Sequence(None, UNKNOWN)
        case BoundLibraryMethod() if (part := as_unseen_part(frame, value)) is not value:
            return frame.iterate(part, node)
        case _:
            # A program that iterates over a value has it: None has no elements, and an empty alternative gives none.
            parts = [one for one in alternatives(value) if one != NONE]
            if parts != [value]:
                found = [frame.iterate(one, node) for one in parts]
                return Sequence(None, join_all([one.any for one in found if one.items != ()]))
    return Sequence(None, UNKNOWN)


def _limit_unrolling(thing: Sequence) -> Sequence:
    """Return a sequence; if it has too many elements to unroll, one stands for all: `element`, else their join."""
    if thing.items is None or len(thing.items) <= MAX_UNROLLED:
        return thing
    if len(thing.items) > MAX_UNROLLED_OBJECTS or not _are_objects(thing.items):
        element = join_all(thing.items) if thing.element == UNKNOWN else thing.element
        return replace(thing, items=None, element=element, filled=True, optional=())
    return thing


def _are_objects(items: Collection[Value]) -> bool:
    """Return whether the elements of a sequence are objects; beside known ones, others may be unknown."""
    return any(map(_is_object, items)) and all(_is_object(one) or isinstance(one, Unknown) for one in items)


def _is_object(value: Value) -> bool:
    """Return whether a value is an object, or one of several by a condition."""
    if isinstance(value, ConditionalValue):
        return any(isinstance(one, Ref) for one in alternatives(value))
    return isinstance(value, Ref)


def keys_of(reference: Ref, thing: Dict) -> Sequence:
    """Return the keys of a dict as a sequence; `reference` refers to the dict."""
    keys = tuple(map(key_value, thing.entries))
    if thing.element is None:
        return Sequence(keys, mapping=reference if thing.optional else None)
    return Sequence(None, join(thing.key, join_all(keys)) if keys else thing.key, filled=thing.filled)


def values_of(reference: Ref, thing: Dict) -> Sequence:
    """Return the values of a dict, over which iterating `dict.values()` runs, as a sequence."""
    if thing.element is None:
        mapping = reference if thing.optional else None
        found = tuple(thing.entries.values())
        return _limit_unrolling(Sequence(found, owner=thing.owner, mapping=mapping, sources=reference))
    return Sequence(None, thing.any, owner=thing.owner, filled=thing.filled)


def items_of(reference: Ref, thing: Dict) -> Sequence:
    """Return the elements over which iterating `dict.items()` runs: tuples of a key and a value."""
    if thing.element is None:
        rows = tuple(Tuple((key_value(key), value)) for key, value in thing.entries.items())
        mapping = reference if thing.optional else None
        return _limit_unrolling(Sequence(rows, owner=thing.owner, mapping=mapping, sources=(None, reference)))
    return Sequence(None, Tuple((keys_of(reference, thing).any, thing.any)), owner=thing.owner, filled=thing.filled)


def unpack(frame: Frame, value: Value, node: cst.BaseExpression, length: int) -> list[Value]:
    """Return the values that the names in `a, b, ... = value` are bound to.

    Where the number of elements is unknown, each name gets a value that stands for any element. A tuple of another
    number of elements raises ValueError, and ends the path; of alternatives, only those that fit go on.
    """
    if isinstance(value, ConditionalValue):
        value = _fitting(frame, value, length)
    if isinstance(value, Unknown) and value.origin is not None:
        texts = [f"{value.text}[{i}]" if value.text else "" for i in range(length)]
        return [Unknown(("item", value.origin, i), text, cast=value.cast) for i, text in enumerate(texts)]
    if isinstance(value, OpaqueData) and not value.parts:
        return [opaque_part(value, i) for i in range(length)]
    if isinstance(value, Ref):
        thing = frame.get(value.address)
        if isinstance(thing, Sequence) and thing.items is not None and len(thing.items) == length:
            return list(thing.items)
    if isinstance(value, Tuple):
        if len(value.items) == length:
            return list(value.items)
        frame.fail()
        return [UNKNOWN] * length
    if isinstance(value, Tensor) and value.rank is Rank.ZERO:
        return [UNKNOWN] * length
    if isinstance(value, ConditionalValue) and NONE not in (value.yes, value.no):
        sides = [unpack(frame, one, node, length) for one in (value.yes, value.no)]
        return [join(yes, no, value.test) for yes, no in zip(*sides, strict=True)]
    found = frame.iterate(value, node)
    if found.items is not None and len(found.items) == length:
        return list(found.items)
    element = found.any
    # Of numbers and tensors in one sequence, nothing tells which are where.
    return [UNKNOWN if length > 1 and is_number_or_tensor(element) else element] * length


def _fitting(frame: Frame, value: ConditionalValue, length: int) -> Value:
    """Return the alternatives of a value that an unpacking into a number of names may be about.

    Beside a tuple of that number, a tensor is what a function returns to other callers. The path condition then holds
    what chooses between the alternatives.
    """
    has_fitting_tuple = any(isinstance(one, Tuple) and len(one.items) == length for one in alternatives(value))

    def fits(one: Value) -> bool | None:
        if isinstance(one, Tuple):
            return len(one.items) == length
        return False if has_fitting_tuple and isinstance(one, Tensor) else None

    yes, no = (restrict_alternatives(one, fits, True) for one in (value.yes, value.no))
    if (yes is None) is not (no is None) and value.test is not None:
        frame.state.assume(~value.test if yes is None else value.test)
    return restrict_alternatives(value, fits, True) or value


def iterate_instance(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Sequence:
    """Return the elements of an iteration over an object.

    They come from devlint's model of the object's library class, from the contents of a module container such as
    nn.ModuleList, or from the class's own `__iter__`.
    """
    registered = find_iteration_model(thing.cls)
    if registered is not None:
        return registered(frame, reference, thing, node)
    if container_class(frame, thing, "__iter__") is not None:
        return iterate_container(frame, thing)
    if isinstance(thing.cls, ProgramDefinition):
        return _user_iteration(frame, reference, thing, node)
    row = find_member_row(frame, reference, "__iter__")
    return Sequence(None, UNKNOWN if row is None else call_library_method(frame, reference, row, Arguments(node)))


def _user_iteration(frame: Frame, reference: Ref, thing: Instance, node: cst.BaseExpression) -> Sequence:
    """Return the elements of an object of a program's class, by `__iter__` and `__next__`, or else by `__getitem__`."""
    method = frame.get_attribute(reference, "__iter__", node)
    if isinstance(method, ProgramDefinition):
        produced = frame.call(method, Arguments(node), node)
        if produced == reference:
            following = frame.get_attribute(reference, "__next__", node)
            return Sequence(None, frame.call(following, Arguments(node), node))
        return frame.iterate(produced, node)
    if thing.contents is not None:
        return frame.iterate(thing.contents, node)
    return Sequence(None, item_by_index(frame, reference, node))


def item_by_index(frame: Frame, reference: Value, node: cst.BaseExpression) -> Value:
    """Return the result of an object's own `__getitem__` for an unknown index; unknown where its class defines none."""
    method = frame.get_attribute(reference, "__getitem__", node)
    if not isinstance(method, ProgramDefinition):
        return UNKNOWN
    index = Argument(Number("int"), node)
    return frame.call(method, Arguments(node, [index]), node)
