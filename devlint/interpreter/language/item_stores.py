"""Handlers of assignments to a subscript: `owner[index] = value` for tensors, arrays, containers and modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, promotion_category
from devlint.domain.join import join, without_none
from devlint.domain.objects import Dict, Instance, Registration, Sequence, with_fewer_items
from devlint.domain.placement import StepKind, extend_provenance
from devlint.domain.placement_lattice import join_placements
from devlint.domain.record import replace
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    ConditionalValue,
    Const,
    LibraryName,
    Number,
    OpaqueData,
    Rank,
    Ref,
    StringPrefix,
    Tensor,
    Tuple,
    Unknown,
    Value,
)
from devlint.interpreter.conditions.alternatives import compute_per_alternative
from devlint.interpreter.language.environment_variables import ENVIRONMENT, set_variable
from devlint.interpreter.language.opaque_data import set_opaque_item, stored_placement
from devlint.interpreter.language.subscripts import (
    evaluate_indices,
    get_item_argument,
    is_number_like,
    report_index_dtype,
)
from devlint.interpreter.objects.class_hierarchy import find_special_method
from devlint.interpreter.objects.collections import dict_with_entry, dict_with_every_entry, list_with_every_element
from devlint.interpreter.objects.every_iteration import is_in_every_iteration
from devlint.interpreter.objects.module_containers import module_of_part, set_container_part
from devlint.interpreter.objects.module_state import CONTAINERS
from devlint.interpreter.objects.plain_attributes import mark_as_contained
from devlint.interpreter.objects.tensor_containers import is_tensor_container
from devlint.interpreter.objects.unseen_parts import as_unseen_part, forget_if_stored
from devlint.interpreter.operations.aliasing import item_storage, report_shared_write, storage_of
from devlint.interpreter.operations.device_conflicts import find_device_conflict
from devlint.interpreter.operations.host_indices import assume_wait_for_index, report_host_indices
from devlint.interpreter.operations.synchronization import report_read_by_copy
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.changed_tensors import change_tensor, written_tensor
from devlint.interpreter.state.events import DtypeConflict, Operand
from devlint.interpreter.state.frame import Frame, assigns
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import dotted_name, names_in_target

_MAKERS_FROM_DATA: Final = ("torch.tensor", "torch.as_tensor", "Tensor")
"""The ends of the names of what makes a tensor of a list."""


def _set_dict_attribute(frame: Frame, owner: Ref, key: Value, value: Value) -> None:
    """Set an object's attribute after a store into the object's `__dict__` under a constant key."""
    thing = frame.instance(owner)
    if thing is not None and isinstance(key, Const):
        frame.put(owner.address, thing.with_attribute(str(key.value), value))


@assigns(cst.Subscript)
def set_item(frame: Frame, target: cst.Subscript, value: Value) -> None:
    """Execute the assignment `owner[index] = value`, by the owner's own `__setitem__` if the program defines one."""
    owner = frame.evaluate(target.value)
    _set_in_owner(frame, target, owner, evaluate_indices(frame, target), value)


def _set_in_owner(
    frame: Frame, target: cst.Subscript, owner: Value, indices: list[Argument | None], value: Value
) -> None:
    """Execute `owner[index] = value` for an evaluated owner; each alternative of one is stored into on its own path."""
    owner = without_none(owner)
    index = indices[0] if len(indices) == 1 else None
    if isinstance(owner, ConditionalValue):

        def store(one: Value) -> Value:
            _set_in_owner(frame, target, one, indices, value)
            return NONE

        compute_per_alternative(frame, owner, store)
        return
    function = find_special_method(frame, owner, "__setitem__")
    if function is not None:
        frame.call_function(
            function, owner, Arguments(target, [get_item_argument(indices, target), Argument(value, target)])
        )
        return
    owner = as_unseen_part(frame, frame.contents(owner))
    match owner:
        case LibraryName() if owner == ENVIRONMENT:
            set_variable(frame, index, value)
        case Unknown() if (module := module_of_part(owner)) is not None:
            forget_if_stored(frame, module, value)
        case Tensor():
            _report_item_write(frame, target, owner, indices)
            _set_in_tensor(frame, target, owner, indices, value)
        case Array():
            _report_item_write(frame, target, owner, indices)
        case OpaqueData():
            set_opaque_item(frame, target.value, owner, index.value if index is not None else None, value)
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Dict):
                key = index.value if index is not None else UNKNOWN
                kept = mark_as_contained(frame, _mark_if_cached(frame, target, value), thing.owner)
                if index is not None and _stores_under_each_key(frame, thing, index):
                    frame.put(address, dict_with_every_entry(thing, kept))
                else:
                    frame.put(address, dict_with_entry(thing, key, kept))
                if thing.object is not None:
                    _set_dict_attribute(frame, thing.object, key, value)
            elif isinstance(thing, Sequence):
                value = mark_as_contained(frame, value, thing.owner)
                if thing.items is None and index is not None and _stores_under_each_position(frame, owner, index):
                    frame.put(address, list_with_every_element(thing, value))
                else:
                    frame.put(address, _with_element(frame, target, thing, index, value))
            elif isinstance(thing, Instance) and thing.cls in CONTAINERS:
                set_container_part(frame, owner, thing, index.value if index is not None else None, value)
            elif (
                isinstance(thing, Instance)
                and (thing.registered or is_tensor_container(frame, owner))
                and index is not None
                and isinstance(index.value, Const)
            ):
                name = str(index.value.value)
                frame.put(
                    address,
                    thing.with_attribute(name, value, thing.registered.get(name, _registration_in(frame, owner))),
                )
            elif isinstance(thing, Instance) and thing.cell is not None and is_tensor_container(frame, owner):
                # Under an unknown key any of its tensors may be replaced.
                placement = join_placements(thing.cell.placement, stored_placement(frame, value))
                parts = {name: join(part, value) for name, part in thing.attributes.items()}
                frame.put(address, replace(thing, attributes=parts, cell=replace(thing.cell, placement=placement)))


def _with_element(
    frame: Frame, target: cst.Subscript, thing: Sequence, index: Argument | None, value: Value
) -> Sequence:
    """Return a list after a store under an index; None stands for a slice, under which several elements are stored.

    A list that has an element to replace has been filled, perhaps by code that the analysis has not seen.
    """
    position = index.value.value if index is not None and isinstance(index.value, Const) else None
    if thing.items is not None and isinstance(position, int):
        changed = list(thing.items)
        if -len(changed) <= position < len(changed):
            changed[position] = value
        return replace(thing, items=tuple(changed))
    more = value if index is not None else frame.iterate(value, target).any
    element = more if thing.items == () and index is None else join(thing.any, more)
    if index is None:
        return replace(with_fewer_items(thing), element=element)
    prefix = tuple(
        one
        if isinstance(position, int) and number != position >= 0
        else value
        if number == position
        else join(one, value)
        for number, one in enumerate(thing.beginning)
    )
    return replace(thing, items=None, element=element, filled=thing.has_elements, prefix=prefix, optional=())


def _stores_under_each_key(frame: Frame, thing: Dict, key: Argument) -> bool:
    """Return whether a store is made by a loop over the keys of a dict, in each iteration and under the loop's key."""
    loop = frame.loops[-1] if frame.loops else None
    if loop is None or not isinstance(loop.node, cst.For) or not isinstance(key.node, cst.Name):
        return False
    return (
        key.value is thing.key
        and isinstance(thing.key, StringPrefix)
        and not thing.entries
        and key.node.value in names_in_target(loop.node.target)
        and is_in_every_iteration(frame)
    )


def _stores_under_each_position(frame: Frame, owner: Ref, index: Argument) -> bool:
    """Return whether a store is made by a loop over the positions of a list, in each iteration and at its position.

    Such a loop runs over `range(len(xs))` or `enumerate(xs)`.
    """
    loop = frame.loops[-1] if frame.loops else None
    if not isinstance(index.value, Number) or not isinstance(index.node, cst.Name) or loop is None:
        return False
    match loop.node:
        case cst.For(
            target=cst.Name(value=counter),
            iter=cst.Call(
                func=cst.Name(value="range"),
                args=[cst.Arg(value=cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=name))]))],
            ),
        ):
            pass
        case cst.For(
            target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=counter)), _]),
            iter=cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=cst.Name(value=name))]),
        ):
            pass
        case _:
            return False
    return counter == index.node.value and frame.lookup(name) == owner and is_in_every_iteration(frame)


def _registration_in(frame: Frame, owner: Value) -> Registration | None:
    """Return how an owner registers an item that the program stores in it.

    A library's batch object, whose `.to()` moves its tensors, registers the item as a buffer; other owners do not
    (None).
    """
    return Registration.BUFFER if is_tensor_container(frame, owner) else None


def _report_item_write(
    frame: Frame, target: cst.Subscript, owner: Tensor | Array, indices: list[Argument | None]
) -> None:
    """Report a write into the part of a tensor's or array's memory that the indices of a subscript select."""
    part = item_storage(storage_of(owner), target, [index.value for index in indices if index is not None])
    report_shared_write(frame, replace(owner, memory=part), target, target)


def _mark_if_cached(frame: Frame, target: cst.Subscript, value: Value) -> Value:
    """Return a tensor marked as cached, if a function stores the tensor in a dict of its module's top level.

    Such a dict outlives the call. The value is returned unmarked when it is no tensor, when the dict is no global name,
    and when a name or a literal in the key contains `device`.
    """
    if not (isinstance(value, Tensor) and isinstance(target.value, cst.Name) and frame.function is not None):
        return value
    name = target.value.value
    if name in frame.state.names or frame.outer is not None or frame.analysis.global_name(frame.module, name) is None:
        return value
    if target.slice and any("device" in word for word in words_in(target.slice[0])):
        return value
    return replace(
        value,
        placement=extend_provenance(
            value.placement,
            lambda previous: frame.step(
                StepKind.CACHED, f"kept in `{name}` under a key without the device", target, previous
            ),
        ),
        fresh=None,
    )


def _set_in_tensor(
    frame: Frame, target: cst.Subscript, owner: Tensor, indices: list[Argument | None], value: Value
) -> None:
    """Assign to a part of a tensor: check the devices and dtypes, and record that the tensor is no longer freshly made.

    A slice copies from any device. With a mask or an index the value must be on the tensor's device, unless the value
    is 0-dim; of one with a single element, torch takes the leading dimensions away. Masks and indices may be on any
    device: torch copies them to the device of the tensor written to.
    """
    tensor = frame.resolve(owner)
    base = Operand("input", frame.place(target.value), tensor)
    advanced: list[Value] = []
    is_refused = False
    for index in indices:
        if index is None:
            continue
        one = without_none(index.value)
        if isinstance(one, Tensor):
            report_index_dtype(frame, "__setitem__", index, one, target)
        advanced += _selecting_indices(frame, one)
    if advanced:
        report_host_indices(frame, base, indices, target)
    assume_wait_for_index(frame, base, indices)
    if advanced and isinstance(value, Tensor):
        stripped = replace(value, rank=Rank.ZERO) if _has_one_element(frame, target, value) else value
        source = Operand("value", frame.place(target), frame.resolve(stripped))
        conflict = find_device_conflict(frame, target, "index assignment", [base, source], "many")
        if conflict is not None:
            frame.emit(conflict)
        elif _is_put(frame, advanced, source.tensor):
            kinds = {tensor.dtype.name, source.tensor.dtype.name}
            if len(kinds - {None}) > 1:
                frame.emit(DtypeConflict(frame.event_context(target), "index assignment", base, source))
                is_refused = True
    if isinstance(value, Tensor):
        source = Operand("value", frame.place(target), frame.resolve(value))
        report_read_by_copy(frame, source, tensor.placement, target, "index assignment")
    written = frame.resolve(value) if isinstance(value, Tensor) else None
    changed = written_tensor(frame, owner, written)
    if is_refused:
        # The assignment raises: whoever mends it may choose the other dtype.
        changed = replace(changed, dtype=UNKNOWN_DTYPE)
    change_tensor(frame, target.value, owner, changed)
    whole = target.value
    while isinstance(whole, cst.Subscript):
        whole = whole.value
    if whole is not target.value:
        # The target is a part of a part (`x[0][1] = value`): the whole tensor `x` is no longer freshly made either.
        made = frame.evaluate(whole)
        if isinstance(made, Tensor):
            change_tensor(frame, whole, made, written_tensor(frame, made, written))


def _has_one_element(frame: Frame, target: cst.Subscript, value: Tensor) -> bool:
    """Return whether a tensor that is stored surely has one element, by the call that makes it: `torch.tensor([1])`."""
    made = value.fresh.extent if value.fresh is not None else None
    if made is not None and not made.is_open:
        return all(size == 1 for size in made.sizes)
    path = frame.analysis.use_def.path(frame, target)
    match next((one for one in reversed(path) if isinstance(one, cst.Assign)), None):
        case cst.Assign(value=cst.Call(func=made_by, args=[cst.Arg(value=data, star=""), *_])):
            maker = dotted_name(made_by)
            if maker is None or not maker.endswith(_MAKERS_FROM_DATA):
                return False
            while isinstance(data, cst.List) and len(data.elements) == 1:
                data = data.elements[0].value
                if isinstance(data, cst.BaseNumber):
                    return value.rank.is_dimensioned
    return False


def _selecting_indices(frame: Frame, index: Value) -> Iterator[Value]:
    """Yield what of an index selects elements one by one: tensors with dimensions, lists, and such parts of a tuple.

    The rest of a tuple may be slices, and so may the elements of a list that are not known.
    """
    thing = frame.object_of(index)
    match index:
        case Tensor():
            if not is_number_like(index):
                yield index
        case Tuple(items=items):
            for one in items:
                yield from _selecting_indices(frame, without_none(one))
        case Ref() if isinstance(thing, Sequence):
            inner = without_none(thing.any)
            if thing.kind == "tuple":
                yield from _selecting_indices(frame, inner)
            elif not isinstance(inner, Unknown) or thing.items == ():
                yield index
        case Ref():
            yield index


def _is_put(frame: Frame, indices: list[Value], value: Tensor) -> bool:
    """Return whether an assignment `tensor[indices] = value` surely writes elements one by one, as index_put_ does.

    Such a write does not convert dtypes. With a 0-dim index torch copies a slice instead, and with a mask it fills in a
    0-dim value; both convert the dtype.
    """
    for index in indices:
        if isinstance(index, Tensor) and not index.rank.is_dimensioned:
            continue
        dtype = frame.resolve(index).dtype.name if isinstance(index, Tensor) else None
        if value.rank.is_dimensioned or (dtype is not None and promotion_category(dtype) == 1):
            return True
    return False
