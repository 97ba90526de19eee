"""Handlers of attribute assignment (`owner.name = value`) on objects, modules, classes and tensors, and of `del`."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.device import CPU
from devlint.domain.join import without_none
from devlint.domain.objects import Dict, Instance, Sequence, with_fewer_items
from devlint.domain.path_conditions import Literal
from devlint.domain.placement import certain_device
from devlint.domain.value import (
    AllocationSite,
    Array,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    OpaqueData,
    ProgramDefinition,
    Rank,
    Ref,
    Tensor,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.language.attributes import call_method_with
from devlint.interpreter.language.opaque_data import set_opaque_item
from devlint.interpreter.objects.class_hierarchy import (
    bind_class_attribute,
    defined_class,
    find_class_attribute,
    find_setter,
    find_special_method,
)
from devlint.interpreter.objects.collections import without_entry, without_some_entry
from devlint.interpreter.objects.module_containers import module_of_part
from devlint.interpreter.objects.module_state import register_attribute
from devlint.interpreter.objects.parameters import replace_parameter_data, set_requires_grad
from devlint.interpreter.objects.unseen_parts import (
    as_unseen_part,
    forget_if_stored,
    has_unseen_parts,
)
from devlint.interpreter.operations.aliasing import storage_of
from devlint.interpreter.operations.tensor_transfers import transfer_that_unleafed
from devlint.interpreter.program.definitions import ClassInfo, ModuleInfo
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.changed_tensors import change_tensor
from devlint.interpreter.state.events import MovedLeaf
from devlint.interpreter.state.frame import Frame, assigns
from devlint.interpreter.state.rebinding import replace_value
from devlint.interpreter.state.unknown_records import unknown_object_site


@assigns(cst.Attribute)
def assign_attribute(frame: Frame, node: cst.Attribute, value: Value) -> None:
    """Execute an assignment whose target is an attribute (`owner.name = value`)."""
    set_attribute(frame, frame.evaluate(node.value), node.attr.value, value, node)


def set_attribute(frame: Frame, owner: Value, name: str, value: Value, node: cst.CSTNode) -> None:
    """Set an attribute of a value (`owner.name = value`), from an assignment or from `setattr`."""
    owner = without_none(owner)
    match owner:
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Instance) and not _set_by_own_method(frame, owner, thing, name, value, node):
                _check_leaf_replacement(frame, thing, name, value, node)
                register_attribute(frame, owner, thing, name, value, node)
                if not isinstance(value, Tensor) and has_unseen_parts(frame, owner):
                    forget_if_stored(frame, owner, value)
        case Unknown() if (module := module_of_part(owner)) is not None:
            forget_if_stored(frame, module, value)
        case BoundLibraryMethod() if (part := as_unseen_part(frame, owner)) is not owner:
            set_attribute(frame, part, name, value, node)
        case Unknown(origin=origin) if origin is not None:
            address = unknown_object_site(owner)
            # Paths that do not set the attribute refer to the same unknown object.
            before = frame.get(address) or frame.analysis.base_heap.get_or_put(address, Instance("?", {}))
            assert isinstance(before, Instance)
            frame.put(address, before.with_attribute(name, value))
        case ProgramDefinition(definition=ModuleInfo() as module) if module in frame.analysis.module_frames:
            frame.analysis.global_writes += 1
            frame.analysis.module_frames[module].state.names[name] = value
        case ProgramDefinition(definition=ClassInfo() as info):
            frame.analysis.global_writes += 1
            bind_class_attribute(frame, info, name, value)
        case ConditionalValue(test=test, yes=yes, no=no):

            def side(chosen: Value, holds: Literal | None) -> None:
                if holds is not None:
                    frame.state.assume(holds)
                set_attribute(frame, chosen, name, value, node)

            ends = frame.branch(lambda: side(yes, test), lambda: side(no, ~test if test is not None else None))
            frame.state = join_states(*ends)
        case Tensor():
            _set_on_tensor(frame, owner, name, value, node)
        case Array() if name == "shape" and isinstance(node, cst.Attribute):
            replace_value(frame, node.value, owner, replace(owner, rank=Rank.ANY))
        case OpaqueData() if isinstance(node, cst.Attribute):
            set_opaque_item(frame, node.value, owner, Const(name), value)


def _check_leaf_replacement(frame: Frame, thing: Instance, name: str, value: Value, node: cst.CSTNode) -> None:
    """Report an assignment that replaces a leaf tensor, which an optimizer trains, by its moved copy.

    A copy on the host is not reported: it may be kept on purpose.
    """
    before = thing.attributes.get(name)
    if not (isinstance(value, Tensor) and value.trained and isinstance(before, Tensor) and before.trained):
        return
    moved = transfer_that_unleafed(value)
    if moved is not None and transfer_that_unleafed(before) is None and certain_device(value.placement) != CPU:
        use = f"it takes the place of `{name}`, which an optimizer trains"
        frame.emit(MovedLeaf(frame.event_context(node), moved, False, use, replaces=True))


def _set_by_own_method(frame: Frame, owner: Ref, thing: Instance, name: str, value: Value, node: cst.CSTNode) -> bool:
    """Execute `owner.name = value` by the program's own `__setattr__`, property setter or descriptor `__set__`.

    Return True if the owner's class defines one of them, otherwise False: the caller then stores the attribute itself.
    """
    info = defined_class(thing.cls)
    if info is None:
        return False
    method = find_special_method(frame, owner, "__setattr__")
    if method is not None and method not in frame.analysis.active_functions:
        call_method_with(frame, owner, method, [Const(name), value], node)
        return True
    setter = find_setter(frame, info, name)
    if setter is not None:
        call_method_with(frame, owner, setter, [value], node)
        return True
    held = find_class_attribute(frame, info, name)
    descriptor = find_special_method(frame, held, "__set__") if isinstance(held, Ref) else None
    if descriptor is not None and held is not None:
        call_method_with(frame, held, descriptor, [owner, value], node)
        return True
    return False


def _set_on_tensor(frame: Frame, tensor: Tensor, name: str, value: Value, node: cst.CSTNode) -> None:
    """Execute `tensor.name = value` for the attributes `requires_grad` and `data`; any other attribute is ignored."""
    owner = node.value if isinstance(node, cst.Attribute) else None
    if name == "requires_grad":
        known = bool(value.value) if isinstance(value, Const) else None
        if tensor.cell is not None:
            set_requires_grad(frame, tensor.cell, known)
        elif owner is not None:
            leaf = True if tensor.leaf is None or not tensor.grad else tensor.leaf
            change_tensor(frame, owner, tensor, replace(tensor, grad=known, leaf=leaf))
    elif name == "data":
        # Whatever is assigned, the tensor lies where that does: what is not known to be a tensor lies anywhere.
        given = as_tensor(frame.as_single_tensor(value)) or Tensor()
        if tensor.cell is not None:
            settled = frame.resolve(given)
            replace_parameter_data(frame, tensor.cell, settled.placement, settled.dtype)
        elif owner is not None:
            # A move of the module that the value belongs to gives the module other data, and leaves this tensor alone.
            data = replace(frame.resolve(given), cell=None, memory=storage_of(given))
            change_tensor(frame, owner, tensor, replace(data, grad=tensor.grad, leaf=tensor.leaf))


def delete_target(frame: Frame, target: cst.BaseExpression) -> None:
    """Delete the targets of a `del` statement: names, attributes and items."""
    match target:
        case cst.Name(value=name):
            frame.evaluate(target)  # where the name is not bound, deleting it raises an error
            frame.state.names.pop(name, None)
        case cst.Tuple(elements=elements) | cst.List(elements=elements):
            for element in elements:
                delete_target(frame, element.value)
        case cst.Attribute(value=owner, attr=cst.Name(value=name)):
            _delete_attribute(frame, owner, name)
        case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            _delete_item(frame, owner, index)
        case cst.Subscript(value=owner):
            _delete_item(frame, owner, None)


def _delete_attribute(frame: Frame, owner: cst.BaseExpression, name: str) -> None:
    """Execute `del owner.name`: remove the attribute, and its registration in an nn.Module, from the object `owner`."""
    reference = without_none(frame.evaluate(owner))
    thing = frame.instance(reference)
    if thing is not None and isinstance(reference, Ref):
        attributes = {key: value for key, value in thing.attributes.items() if key != name}
        registered = {key: kind for key, kind in thing.registered.items() if key != name}
        frame.put(reference.address, replace(thing, attributes=attributes, registered=registered))


def _delete_item(frame: Frame, owner: cst.BaseExpression, index: cst.BaseExpression | None) -> None:
    """Execute `del owner[index]`: remove the item from the container that the expression `owner` evaluates to.

    The index is None for a slice.
    """
    reference = without_none(frame.evaluate(owner))
    key = frame.evaluate(index) if index is not None else None
    thing = frame.object_of(reference)
    if isinstance(reference, Ref) and isinstance(thing, (Sequence, Dict, Instance)):
        _remove_entry(frame, reference.address, thing, key.value if isinstance(key, Const) else None)


def _remove_entry(frame: Frame, address: AllocationSite, thing: Sequence | Dict | Instance, key: object) -> None:
    """Remove the entry under a key from a dict or other container on the heap.

    The key is None when it is unknown or a slice.
    """
    match thing:
        case Dict() if key is not None:
            frame.put(address, without_entry(thing, key))
        case Dict():
            frame.put(address, without_some_entry(thing))
        case Sequence(items=tuple() as items) if isinstance(key, int) and -len(items) <= key < len(items):
            rest = list(items)
            del rest[key]
            frame.put(address, replace(thing, items=tuple(rest)))
        case Sequence():
            frame.put(address, with_fewer_items(thing))
