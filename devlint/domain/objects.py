"""Heap objects, the targets of `Ref` values: mutable objects that several names may share.

The classes here are frozen: an object is changed by storing another record of it at its allocation site.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import field
from enum import Enum
from typing import Any, Final, TypeAlias

from devlint.domain.dtype import Dtype
from devlint.domain.join import alternatives, conditional_value, join, join_dtypes
from devlint.domain.optional_items import OptionalItems, join_items
from devlint.domain.path_conditions import Literal, conditional
from devlint.domain.placement import Place, Placement
from devlint.domain.placement_lattice import join_under
from devlint.domain.record import record, replace
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    AllocationSite,
    Const,
    LibraryName,
    ProgramDefinition,
    Ref,
    StringPrefix,
    Tensor,
    Value,
)

MAX_PREFIX: Final = 3
"""The number of elements that are known of the beginning of a sequence of unknown length.

A loop over such a sequence makes a pass for each of them.
"""


ANY_ITERATOR: Final = "any iterator"
"""The kind of a sequence that may be an object of any class, of which only the elements are known."""


@record(frozen=True, slots=True)
class Sequence:
    """A list, set, deque, iterator or generator on the abstract heap.

    `items` holds the elements when each of them is known. Otherwise `items` is None. `element` stands for every
    element; where `items` are known it is UNKNOWN, or what stands for each of them if they are too many to go through.
    `prefix` has the elements at the beginning as far as they are known, at most MAX_PREFIX. `owner` is the source
    location at which the sequence was stored as a plain attribute of an nn.Module, if it was. `filled` is the condition
    that a sequence whose elements are unknown has any; None while no condition of the program names it. `sources` are
    the lists from which an iterator takes an element each time that it is asked for one: one list, or for each part of
    the element the list or None; of a view of a dict it is the dict, whose values are asked for. `mapping` is the dict
    of which the elements are the keys, values or items in order, if it may lack some of them. `generator` identifies
    the generator that makes the elements, if it writes to pinned memory when it is asked for the next one. `optional`
    has the elements of a list to which paths have added some under conditions, each with its condition; empty where
    they are not known.
    """

    items: tuple[Value, ...] | None
    element: Value = UNKNOWN
    kind: str = "list"
    owner: Place | None = field(default=None, compare=False)
    prefix: tuple[Value, ...] = ()
    filled: Literal | bool | None = field(default=None, compare=False)
    sources: Ref | tuple[Ref | None, ...] | None = None
    mapping: Ref | None = None
    generator: AllocationSite | None = field(default=None, compare=False)
    optional: OptionalItems = ()

    @property
    def any(self) -> Value:
        """Return a value that stands for every element of the sequence: the join of all elements."""
        if self.items is None:
            return self.element
        return join_all(self.items)

    @property
    def beginning(self) -> tuple[Value, ...]:
        """Return the known elements at the beginning of the sequence, at most MAX_PREFIX."""
        return self.prefix if self.items is None else self.items[:MAX_PREFIX]

    @property
    def conditional_items(self) -> OptionalItems | None:
        """Return the elements, each with the condition under which the sequence has it; None where they are unknown."""
        if self.items is not None:
            return tuple((one, None) for one in self.items) if self.mapping is None else None
        return self.optional or None

    @property
    def has_elements(self) -> Literal | bool | None:
        """Return the condition that the sequence has an element, as a bool or a literal; None if nothing names it."""
        return bool(self.items) if self.items is not None and self.mapping is None else self.filled


@record(frozen=True, slots=True)
class Dict:
    """A dict on the abstract heap: `entries` under known keys, and `element` for the values under all other keys.

    Known keys are constants, and the classes and functions of libraries and of the program (`entry_key`). `element` is
    None when there are no other keys. `factory` makes the values that a defaultdict has for the keys it lacks.
    `optional` holds the keys that only one of two joined paths has set, each with the condition under which it is set.
    `object` refers to an object if the dict is that object's `__dict__`. `is_filled` is true when a dict of unknown
    keys surely has an entry, and `is_open` when unknown code has received the dict, which may have added entries. `key`
    stands for the unknown keys: dicts with the same Python object as key have the same keys.
    """

    entries: Mapping[Hashable, Value]
    element: Value | None = None
    key: Value = UNKNOWN
    owner: Place | None = field(default=None, compare=False)
    factory: Value | None = None
    optional: Mapping[Hashable, Literal | None] = field(default_factory=dict)
    object: Ref | None = None
    is_filled: bool = field(default=False, compare=False)
    is_open: bool = field(default=False, compare=False)

    @property
    def filled(self) -> bool | None:
        """Return True for a dict that surely has an entry, otherwise None."""
        return True if self.is_filled or self.entries.keys() - self.optional.keys() else None

    @property
    def any(self) -> Value:
        """Return a value that stands for every value in the dict: the join of all of them."""
        values = [*self.entries.values(), *([] if self.element is None else [self.element])]
        return join_all(values)


def entry_key(key: Value) -> tuple[Hashable] | None:
    """Return the key of a dict's entry for a value, as the only element of a tuple; None for a value that may vary."""
    match key:
        case Const(value=value):
            return (value,)
        case LibraryName() | ProgramDefinition():
            return (key,)
    return None


def key_value(key: Hashable) -> Value:
    """Return the value that stands for the key of a dict's entry."""
    return key if isinstance(key, (LibraryName, ProgramDefinition)) else Const(key)


class Registration(Enum):
    """The way in which an nn.Module holds an attribute; `.to()` of the module moves every attribute but a PLAIN one."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    MODULE = "module"
    PLAIN = "plain"


@record(frozen=True, slots=True)
class ParameterCell:
    """The placement and dtype shared by all references to a parameter, or to a library module's parameters.

    `.to()` of a module changes the cell, and with it every tensor that refers to the cell. `has_parent_module` is true
    when a module registers the parameter.
    """

    placement: Placement
    dtype: Dtype
    grad: bool | None = True
    has_parent_module: bool = field(default=False, compare=False)


@record(frozen=True, slots=True)
class ParameterGroup:
    """Several parameters represented by one object: the value of `p` in `for p in module.parameters()`.

    `members` are the allocation sites of the parameters' cells.
    """

    members: tuple[AllocationSite, ...]


@record(frozen=True, slots=True)
class Instance:
    """An object with attributes on the abstract heap, such as an nn.Module.

    `cls` is the class value of the program, or the dotted name of a library class. `registered` maps the attributes of
    an nn.Module to the way in which the module holds them; `cell` holds the placement and dtype of a library module's
    parameters; `has_parent_module` is true when another module registers this one. `hooks` are the functions that a
    module calls around its forward, each with the kind of hook it is registered as. `placement_tracked` is false when
    the object's placement cannot be followed: of an object of unknown class, it is not known whether it is a module.
    `optional` holds the attributes that only one of two joined paths has set, each with the condition under which it is
    set. `contents` is the dict or list that underlies an object whose class derives from dict or list.
    """

    cls: Hashable
    attributes: Mapping[str, Value]
    registered: Mapping[str, Registration] = field(default_factory=dict)
    cell: ParameterCell | None = None
    has_parent_module: bool = field(default=False, compare=False)
    placement_tracked: bool = True
    hooks: tuple[tuple[str, Value], ...] = ()
    optional: Mapping[Hashable, Literal | None] = field(default_factory=dict)
    contents: Ref | None = None

    def with_attribute(self, name: str, value: Value, registration: Registration | None = None) -> Instance:
        """Return the object with one attribute set.

        `registration` is the way in which the object, as an nn.Module, then holds the attribute; None means not
        registered.
        """
        registered = self.registered
        if registered.get(name) is not registration:
            registered = {key: kind for key, kind in registered.items() if key != name}
            if registration is not None:
                registered[name] = registration
        perhaps = {key: test for key, test in self.optional.items() if key != name} if self.optional else self.optional
        return replace(self, attributes={**self.attributes, name: value}, registered=registered, optional=perhaps)


UNKNOWN_HOOKS: tuple[tuple[str, Value], ...] = (("register_forward_hook", UNKNOWN),)
"""The hooks of a module whose hooks differ between two joined paths."""

HeapObject: TypeAlias = "Sequence | Dict | Instance | ParameterCell | ParameterGroup"
"""The kinds of objects that the abstract heap holds."""


def join_all(values: tuple[Value, ...] | list[Value]) -> Value:
    """Return the join of several values, which stands for each of them; unknown when there are none."""
    if not values:
        return UNKNOWN
    result = values[0]
    for value in values[1:]:
        result = join(result, value)
    if isinstance(result, Tensor) and result.memory is not None:
        roots = {one.memory.root if isinstance(one, Tensor) and one.memory is not None else None for one in values}
        if len(roots) > 1:
            # The values are alike, but they are several tensors.
            return replace(result, memory=None)
    return result


def join_parameter_cells(cells: SequenceOf[ParameterCell]) -> ParameterCell:
    """Return one parameter cell with the join of the placements and dtypes of several parameter cells."""
    result = cells[0]
    for cell in cells[1:]:
        result = _join_cells(result, cell, None)
    return result


def _join_cells(left: ParameterCell, right: ParameterCell, test: Literal | None) -> ParameterCell:
    """Return the join of two parameter cells: `left` where the condition `test` holds, `right` where it does not."""
    placement = join_under(test, left.placement, right.placement)
    grad = left.grad if left.grad == right.grad else None
    return ParameterCell(
        placement, join_dtypes(left.dtype, right.dtype, test), grad, left.has_parent_module or right.has_parent_module
    )


def join_objects(left: HeapObject, right: HeapObject, test: Literal | None) -> HeapObject:
    """Return the join of a heap object's states on two paths: `left` where the condition `test` holds, else `right`."""
    if left is right:
        return left
    if left == right:
        if isinstance(left, Sequence) and isinstance(right, Sequence) and left.filled != right.filled:
            return replace(left, filled=_join_filled(left, right, test))
        return left
    match left, right:
        case Sequence(), Sequence():
            if left.items is not None and right.items is not None and len(left.items) == len(right.items):
                items = tuple(join(a, b, test) for a, b in zip(left.items, right.items, strict=True))
                return replace(left, items=items, owner=left.owner or right.owner)
            parts = [one.any for one in (left, right) if one.items != ()]
            prefix = tuple(join(a, b, test) for a, b in zip(left.beginning, right.beginning, strict=False))
            owner = left.owner or right.owner
            filled = _join_filled(left, right, test)
            optional = join_items(left.conditional_items, right.conditional_items, test)
            element = join(parts[0], parts[1], test) if len(parts) == 2 else join_all(parts)
            return replace(
                left, items=None, element=element, owner=owner, prefix=prefix, filled=filled, optional=optional
            )
        case Dict(), Dict():
            return _join_dicts(left, right, test)
        case ParameterCell(), ParameterCell():
            return _join_cells(left, right, test)
        case Instance(), Instance():
            return _join_instances(left, right, test)
    return left


def with_fewer_items(thing: Sequence) -> Sequence:
    """Return a list from which an unknown element has been taken, or in which the elements may stand in any order."""
    return replace(thing, items=None, element=thing.any, filled=None, prefix=(), optional=())


def _join_filled(left: Sequence, right: Sequence, test: Literal | None) -> Literal | bool | None:
    """Return the condition that a sequence has an element after either of two paths; None if nothing names it."""
    one, other = left.has_elements, right.has_elements
    if one == other:
        return one
    if test is None or one is None or other is None or not (isinstance(one, bool) or isinstance(other, bool)):
        return None
    return conditional(test, one, other)


def filled_by_either(left: Sequence, right: Sequence) -> Literal | bool | None:
    """Return the condition that at least one of two sequences has an element; None if nothing names it."""
    one, other = left.has_elements, right.has_elements
    if one is True or other is True:
        return True
    return other if one is False else one if other is False or one == other else None


def _join_dicts(left: Dict, right: Dict, test: Literal | None) -> Dict:
    """Return the join of a dict's states on two paths.

    A key that only one of the states has becomes one of the `optional` keys.
    """
    entries: dict[Hashable, Value] = {}
    for key in [*left.entries, *(key for key in right.entries if key not in left.entries)]:
        values = [one.entries[key] for one in (left, right) if key in one.entries]
        entries[key] = values[0] if len(values) == 1 else join(values[0], values[1], test)
    rest = [one.element for one in (left, right) if one.element is not None]
    element = join_all(rest) if rest else None
    owner, factory = left.owner or right.owner, left.factory or right.factory
    perhaps = _join_optional_keys(left.entries, right.entries, left.optional, right.optional, test)
    key = left.key if left.key is right.key else several_keys(left.key, right.key)
    is_filled = left.is_filled and right.is_filled
    is_open = left.is_open or right.is_open
    return Dict(entries, element, key, owner, factory, perhaps, is_filled=is_filled, is_open=is_open)


def several_keys(left: Value, right: Value) -> Value:
    """Return the value for the unknown keys of a dict with the keys of two others: an object of its own."""
    key = join(left, right)
    return StringPrefix(key.prefix) if isinstance(key, StringPrefix) else key


def _join_instances(left: Instance, right: Instance, test: Literal | None) -> Instance:
    """Return the join of an object's states on two paths.

    An attribute that only one of the states has becomes one of the `optional` attributes.
    """
    attributes: dict[str, Value] = {}
    for name in [*left.attributes, *(name for name in right.attributes if name not in left.attributes)]:
        values = [one.attributes[name] for one in (left, right) if name in one.attributes]
        if len(values) == 1:
            attributes[name] = values[0]
        elif left.registered.get(name) is not right.registered.get(name) and _are_tensors(values):
            # The two stay apart: whether a move takes the attribute along depends on which one it is.
            attributes[name] = conditional_value(values[0], values[1], test)
        else:
            attributes[name] = join(values[0], values[1], test)
    cell = left.cell
    if left.cell is not None and right.cell is not None:
        joined = join_objects(left.cell, right.cell, test)
        assert isinstance(joined, ParameterCell)
        cell = joined
    elif left.cls == "?":
        # The placement is unknown on the path that has not moved the object.
        cell = None
    return replace(
        left,
        attributes=attributes,
        registered=_join_registrations(left, right),
        cell=cell,
        has_parent_module=left.has_parent_module or right.has_parent_module,
        placement_tracked=left.placement_tracked and right.placement_tracked,
        hooks=left.hooks
        if left.hooks == right.hooks
        else (*left.hooks, *right.hooks, ("register_forward_hook", UNKNOWN)),
        optional=_join_optional_keys(left.attributes, right.attributes, left.optional, right.optional, test),
        contents=left.contents or right.contents,
    )


def _join_optional_keys(
    left: Mapping[Any, Value],
    right: Mapping[Any, Value],
    optional_left: Mapping[Hashable, Literal | None],
    optional_right: Mapping[Hashable, Literal | None],
    test: Literal | None,
) -> Mapping[Hashable, Literal | None]:
    """Return the keys of a dict, or attributes of an object, that only one of two paths has set, each with a condition.

    The condition says where the key is set. It is None for a key that was optional on either path before this join,
    unless it was that under the same condition on both.
    """
    if left.keys() == right.keys() and not optional_left and not optional_right:
        return {}
    found: dict[Hashable, Literal | None] = {
        key: optional_left.get(key) if optional_left.get(key) == optional_right.get(key) else None
        for key in (*optional_left, *optional_right)
    }
    found.update((name, test) for name in left if name not in right and name not in optional_left)
    found.update(
        (name, None if test is None else ~test) for name in right if name not in left and name not in optional_right
    )
    return found


def _are_tensors(values: SequenceOf[Value]) -> bool:
    """Return whether every one of some values is a tensor; of a conditional value, each alternative must be one."""
    return all(isinstance(one, Tensor) for value in values for one in alternatives(value))


def _join_registrations(left: Instance, right: Instance) -> Mapping[str, Registration]:
    """Return how an nn.Module registers each of its attributes after either of two paths.

    An attribute that only one path registers counts as registered, unless it holds None there: then what a move takes
    along is nothing, and what it leaves is the value of the other path. An attribute registered in two ways counts as a
    buffer, since `.to()` of the module moves buffers and parameters alike.
    """
    registered = {**right.registered, **left.registered}
    for one, other in ((left, right), (right, left)):
        for name in one.registered.keys() - other.registered.keys():
            if one.attributes.get(name) == NONE and other.attributes.get(name, NONE) != NONE:
                del registered[name]
    for name, kind in right.registered.items():
        if left.registered.get(name, kind) is not kind:
            registered[name] = Registration.BUFFER
    return registered
