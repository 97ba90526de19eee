"""The life of an nn.Module: what it registers, what `.to()` moves and leaves behind, what calling it meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import Dtype
from devlint.domain.join import alternatives
from devlint.domain.objects import Instance, ParameterCell, Registration
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.domain.value import (
    NONE,
    AllocationSite,
    BoundLibraryMethod,
    ConditionalValue,
    Const,
    ProgramDefinition,
    Rank,
    Ref,
    SymbolicBool,
    Tensor,
    Value,
)
from devlint.interpreter.objects.class_hierarchy import (
    defined_class,
    find_method,
    is_module_class,
    is_module_name,
    library_base,
)
from devlint.interpreter.objects.plain_attributes import mark_as_plain_attribute, mark_as_registered
from devlint.interpreter.objects.tensor_containers import is_tensor_container
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.events import MovedLeaf, Operand
from devlint.interpreter.state.frame import Frame

CONTAINERS: Final = frozenset(
    f"torch.nn.{name}" for name in ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
)
ANY_PART: Final = "*"
"""The name under which a container keeps parts whose number is not known."""

Change = Callable[[Placement, Dtype], tuple[Placement, Dtype]]


def is_module(frame: Frame, value: Value) -> bool:
    """Whether a value is an nn.Module that can be followed."""
    thing = frame.instance(value)
    if thing is None:
        return False
    if isinstance(thing.cls, str):
        return is_module_name(frame, thing.cls)
    return (
        isinstance(thing.cls, ProgramDefinition)
        and isinstance(thing.cls.definition, ClassInfo)
        and is_module_class(frame, thing.cls.definition)
    )


def library_class_name(frame: Frame, thing: Instance) -> str:
    """The library class that a module is, or is built on."""
    if isinstance(thing.cls, str):
        return thing.cls
    info = defined_class(thing.cls)
    base = library_base(frame, info) if info is not None else None
    return base or "torch.nn.Module"


def display_name(thing: Instance) -> str:
    """The name a reader knows a module's class by."""
    if isinstance(thing.cls, str):
        return thing.cls.replace("torch.nn.", "nn.") if thing.cls != "?" else "the module"
    definition = defined_class(thing.cls)
    return definition.name if definition is not None else "the module"


# Attributes


def module_attribute(frame: Frame, owner: Ref, thing: Instance, library: str, name: str) -> Value:
    """An attribute a module has from its library class: a parameter, or a method."""
    row = frame.analysis.table.find(library)
    if row is not None and row.module is not None and name in row.module.attributes and thing.cell is not None:
        cell = thing.cell
        if row.module.attributes[name].startswith("buffer"):
            return Tensor(cell.placement, cell.dtype, grad=False, leaf=False, cell=owner.address)
        return Tensor(cell.placement, cell.dtype, Rank.SOME, cell.grad, leaf=True, cell=owner.address)
    if name == "training":
        return SymbolicBool(Literal(Atom(("training", owner.address), "self.training")))
    return BoundLibraryMethod(owner, name)


def register_attribute(frame: Frame, owner: Ref, thing: Instance, name: str, value: Value, node: cst.CSTNode) -> None:
    """`module.name = value`, with what nn.Module.__setattr__ does; plain data is noted as left behind by `.to()`."""
    registration: Registration | None = None
    if is_tensor_container(frame, owner):
        registration = Registration.BUFFER
    elif is_module(frame, owner):
        registration = registration_of(frame, thing, name, value)
        if registration is Registration.PLAIN:
            if isinstance(value, Tensor) and value.moved is not None and value.was_parameter:
                use = f"it is kept as the attribute `{name}`"
                frame.emit(MovedLeaf(frame.event_context(node), value.moved, True, use))
            if frame.analysis.constructing and not overrides_apply(frame, thing):
                value = mark_as_plain_attribute(frame, value, frame.place(node))
            registration = None
        else:
            mark_as_registered(frame, value)
    changed = thing.with_attribute(name, value, registration)
    if changed.cell is not None and name == "weight" and isinstance(value, Tensor):
        # A library's module is where its weight is.
        given = frame.resolve(value)
        changed = replace(changed, cell=replace(changed.cell, placement=given.placement, dtype=given.dtype))
    frame.put(owner.address, changed)


def registration_of(frame: Frame, thing: Instance, name: str, value: Value) -> Registration:
    """How nn.Module takes an attribute."""
    found = alternatives(value)
    if any(isinstance(one, Tensor) and one.cell is not None and one.leaf for one in found):
        return Registration.PARAMETER
    if any(is_module(frame, one) for one in found):
        return Registration.MODULE
    if thing.registered.get(name) is Registration.BUFFER and (isinstance(value, Tensor) or value == NONE):
        return Registration.BUFFER
    return Registration.PLAIN


def overrides_apply(frame: Frame, thing: Instance) -> bool:
    """Whether the class moves its plain tensors itself, by overriding `_apply` or `to`."""
    info = defined_class(thing.cls)
    return info is not None and any(find_method(frame, info, name) is not None for name in ("_apply", "to"))


# Moving


def move_registered_tensors(
    frame: Frame, value: Value, change: Change, seen: set[AllocationSite] | None = None
) -> None:
    """Move what a module registers, recursively: what `_apply` does. `seen` are the modules that have been moved."""
    thing = frame.instance(value)
    seen = set() if seen is None else seen
    if thing is None or not isinstance(value, Ref) or value.address in seen:
        return
    seen.add(value.address)
    attributes = dict(thing.attributes)
    for name, kind in thing.registered.items():
        part = attributes.get(name)
        if part is None:
            continue
        # One name may hold a module on one path and a parameter on another.
        for one in alternatives(part):
            move_registered_tensors(frame, one, change, seen)
        attributes[name] = _relocate_tensors(frame, part, change, kind, seen)
    moved = replace(thing, attributes=attributes)
    if thing.cell is not None:
        placement, dtype = change(thing.cell.placement, thing.cell.dtype)
        moved = replace(moved, cell=replace(thing.cell, placement=placement, dtype=dtype))
    frame.put(value.address, moved)


def _relocate_tensors(
    frame: Frame, value: Value, change: Change, kind: Registration, seen: set[AllocationSite]
) -> Value:
    """A registered parameter or buffer after the move; one that may also be None, or a plain tensor beside a parameter,
    moves where it is there."""
    match value:
        case ConditionalValue(yes=yes, no=no):
            yes, no = (_relocate_tensors(frame, one, change, kind, seen) for one in (yes, no))
            return replace(value, yes=yes, no=no)
        case Tensor(cell=None) if kind is Registration.BUFFER:
            placement, dtype = change(value.placement, value.dtype)
            return replace(value, placement=placement, dtype=dtype, fresh=None)
        case Tensor(cell=AllocationSite() as address):
            cell = frame.get(address)
            if isinstance(cell, ParameterCell):
                placement, dtype = change(cell.placement, cell.dtype)
                frame.put(address, replace(cell, placement=placement, dtype=dtype))
            elif isinstance(cell, Instance):
                move_registered_tensors(frame, Ref(address), change, seen)
    return value


def module_tensors(
    frame: Frame, value: Value, *, buffers: bool = False, seen: set[AllocationSite] | None = None
) -> Iterator[tuple[str, Tensor]]:
    """A module's parameters (or buffers) with their names, submodules' included; of a module that is there several
    times (`seen` are those that have been), once."""
    thing = frame.instance(value)
    seen = set() if seen is None else seen
    if thing is None or not isinstance(value, Ref) or value.address in seen:
        return
    seen.add(value.address)
    if thing.cell is not None and not buffers:
        cell = thing.cell
        yield "weight", Tensor(cell.placement, cell.dtype, Rank.SOME, cell.grad, leaf=True, cell=value.address)
    for name, kind in thing.registered.items():
        for part in alternatives(thing.attributes[name]) if name in thing.attributes else ():
            if kind is Registration.MODULE:
                for inner, tensor in module_tensors(frame, part, buffers=buffers, seen=seen):
                    yield f"{name}.{inner}", tensor
            elif isinstance(part, Tensor) and (kind is Registration.BUFFER) is buffers:
                yield name, part


def placement_of_module(frame: Frame, value: Value) -> Placement:
    """Where a module's first parameter lives, as `next(module.parameters()).device` would say."""
    for _, tensor in module_tensors(frame, value):
        return frame.resolve(tensor).placement
    return UNKNOWN_PLACEMENT


# Construction


def parameter_operand(frame: Frame, value: Value, thing: Instance, node: cst.CSTNode) -> Operand | None:
    """A library module's parameters, as the operand they are when it is called."""
    if thing.cell is None:
        return None
    cell = thing.cell
    tensor = Tensor(cell.placement, cell.dtype, Rank.SOME, cell.grad)
    return Operand("parameters", frame.place(node), tensor, of_module=display_name(thing))


def constant_bool(value: Value | None, default: bool) -> bool | None:
    """A flag's value; None when it is not known."""
    if value is None:
        return default
    return bool(value.value) if isinstance(value, Const) else None
