"""State of nn.Modules on the heap: what they register, what `.to()` moves, and their parameters as call operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.join import alternatives
from devlint.domain.objects import Instance, ParameterCell, ParameterGroup, Registration
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.domain.record import replace
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
    has_unknown_base,
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
"""The dotted names of torch's container modules."""
ANY_PART: Final = "*"
"""The name under which a container keeps one value for all parts when their number is unknown."""

COUNTER: Final = "num_batches_tracked"
"""The buffer of torch's normalizations that holds integers, whatever the dtype of the others."""

PlacementChange = Callable[[Placement, Dtype], tuple[Placement, Dtype]]
"""A function from the placement and dtype of a tensor to its new placement and dtype."""


def is_module(frame: Frame, value: Value) -> bool:
    """Return whether a value refers to an instance of an `nn.Module` class on the heap."""
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
    """Return the library class that a module is an instance of or derives from; `torch.nn.Module` by default."""
    if isinstance(thing.cls, str):
        return thing.cls
    info = defined_class(thing.cls)
    base = library_base(frame, info) if info is not None else None
    return base or "torch.nn.Module"


def display_name(thing: Instance) -> str:
    """Return the name of a module's class for messages: `nn.Linear`, the name in the program, or `the module`."""
    if isinstance(thing.cls, str):
        return thing.cls.replace("torch.nn.", "nn.") if thing.cls != "?" else "the module"
    definition = defined_class(thing.cls)
    return definition.name if definition is not None else "the module"


# Attributes


def module_attribute(frame: Frame, owner: Ref, thing: Instance, library: str, name: str) -> Value:
    """Return an attribute that a module has from its library class: a parameter, a buffer, `training` or a method."""
    row = frame.analysis.table.find(library)
    if row is not None and row.module is not None and name in row.module.attributes and thing.cell is not None:
        cell = thing.cell
        if name == COUNTER:
            return Tensor(cell.placement, Dtype("int64"), Rank.ZERO, grad=False)
        if row.module.attributes[name].startswith("buffer"):
            return Tensor(cell.placement, cell.dtype, grad=False, leaf=False, cell=owner.address)
        return Tensor(cell.placement, cell.dtype, Rank.SOME, cell.grad, leaf=True, cell=owner.address)
    if name == "training":
        return SymbolicBool(Literal(Atom(("training", owner.address), "self.training")))
    return BoundLibraryMethod(owner, name)


def _report_lost_parameter(frame: Frame, thing: Instance, value: Tensor, name: str, node: cst.CSTNode) -> None:
    """Report a parameter that a transfer has turned into a plain tensor, which a module keeps as an attribute.

    Where another method of the class stores the attribute, the first value only holds the place.
    """
    if value.moved is None or not value.moved_parameter:
        return
    definition = defined_class(thing.cls)
    methods = definition.methods.values() if definition is not None else ()
    if not any(name in one.stores_of_self for one in methods if one is not frame.function):
        use = f"it is kept as the attribute `{name}`"
        frame.emit(MovedLeaf(frame.event_context(node), value.moved, True, use))


def register_attribute(frame: Frame, owner: Ref, thing: Instance, name: str, value: Value, node: cst.CSTNode) -> None:
    """Assign `module.name = value` with the effects of `nn.Module.__setattr__`.

    In a constructor, a plain tensor or container gets the provenance step that `.to()` of the module will not move it.
    A `MovedLeaf` event is emitted for a parameter that a transfer has turned into a plain tensor, which is not
    registered.
    """
    registration: Registration | None = None
    if is_tensor_container(frame, owner):
        registration = Registration.BUFFER
    elif is_module(frame, owner):
        registration = registration_of(frame, thing, name, value)
        if registration is Registration.PLAIN:
            if isinstance(value, Tensor):
                _report_lost_parameter(frame, thing, value, name, node)
            if frame.analysis.construction_depth and not overrides_apply(frame, thing):
                value = mark_as_plain_attribute(frame, value, frame.place(node))
            registration = None
        else:
            mark_as_registered(frame, value)
    changed = thing.with_attribute(name, value, registration)
    if changed.cell is not None and name == "weight" and isinstance(value, Tensor):
        # The parameter cell of a library module has the placement and dtype of its weight.
        given = frame.resolve(value)
        changed = replace(changed, cell=replace(changed.cell, placement=given.placement, dtype=given.dtype))
    frame.put(owner.address, changed)


def registration_of(frame: Frame, thing: Instance, name: str, value: Value) -> Registration:
    """Return how `nn.Module.__setattr__` registers a value: as parameter, module or buffer, or not at all (plain)."""
    found = alternatives(value)
    if any(isinstance(one, Tensor) and one.cell is not None and one.leaf for one in found):
        return Registration.PARAMETER
    if any(is_module(frame, one) for one in found):
        return Registration.MODULE
    if thing.registered.get(name) is Registration.BUFFER and (isinstance(value, Tensor) or value == NONE):
        return Registration.BUFFER
    return Registration.PLAIN


def overrides_apply(frame: Frame, thing: Instance) -> bool:
    """Return whether a module's class overrides `_apply` or `to`, by which it can move its plain tensors itself."""
    info = defined_class(thing.cls)
    return info is not None and any(find_method(frame, info, name) is not None for name in ("_apply", "to"))


# Moving


def move_registered_tensors(
    frame: Frame, value: Value, change: PlacementChange, seen: set[AllocationSite] | None = None
) -> None:
    """Apply a change of placement and dtype to all tensors registered in a module and its submodules.

    This is what `nn.Module._apply` does for `module.to(...)`. `seen` are the modules that have been moved already.
    """
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
    for name, part in attributes.items():
        if isinstance(part, Ref) and name not in thing.registered and _may_be_module(frame, part):
            held = frame.instance(part)
            for one in held.attributes.values() if held is not None else ():
                move_registered_tensors(frame, one, lambda before, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE), seen)


def _may_be_module(frame: Frame, value: Ref) -> bool:
    """Return whether a plain attribute of a module may be a module after all: a base of its class is not known."""
    thing = frame.instance(value)
    info = defined_class(thing.cls) if thing is not None else None
    return info is not None and not is_module_class(frame, info) and has_unknown_base(frame, info)


def _relocate_tensors(
    frame: Frame, value: Value, change: PlacementChange, kind: Registration, seen: set[AllocationSite]
) -> Value:
    """Return a registered attribute of a module after a transfer of the module, such as `module.to(device)`.

    A buffer is replaced; a parameter's heap record is updated, and that of each parameter in a group. For a conditional
    value, such as a parameter that may also be None or a plain tensor, each alternative is moved.
    """
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
            elif isinstance(cell, ParameterGroup) and address not in seen:
                seen.add(address)
                for member in cell.members:
                    _relocate_tensors(frame, Tensor(cell=member), change, kind, seen)
    return value


def module_tensors(
    frame: Frame, value: Value, *, buffers: bool = False, seen: set[AllocationSite] | None = None
) -> Iterator[tuple[str, Tensor]]:
    """Yield the parameters of a module and its submodules with their dotted names; with `buffers`, only the buffers.

    A module that occurs several times is visited once; `seen` are the modules already visited.
    """
    thing = frame.instance(value)
    seen = set() if seen is None else seen
    if thing is None or not isinstance(value, Ref) or value.address in seen:
        return
    seen.add(value.address)
    if thing.cell is not None and buffers and _counts_batches(frame, thing):
        yield COUNTER, Tensor(thing.cell.placement, Dtype("int64"), Rank.ZERO, grad=False)
    elif thing.cell is not None and not buffers:
        cell = thing.cell
        yield "weight", Tensor(cell.placement, cell.dtype, Rank.SOME, cell.grad, leaf=True, cell=value.address)
    for name, kind in thing.registered.items():
        for part in alternatives(thing.attributes[name]) if name in thing.attributes else ():
            if kind is Registration.MODULE:
                for inner, tensor in module_tensors(frame, part, buffers=buffers, seen=seen):
                    yield f"{name}.{inner}", tensor
            elif isinstance(part, Tensor) and (kind is Registration.BUFFER) is buffers:
                yield name, part


def _counts_batches(frame: Frame, thing: Instance) -> bool:
    """Return whether a library module has a buffer that counts the batches that it has seen."""
    row = frame.analysis.table.find(library_class_name(frame, thing))
    return row is not None and row.module is not None and COUNTER in row.module.attributes


def placement_of_module(frame: Frame, value: Value) -> Placement:
    """Return the placement of a module's first parameter, as `next(module.parameters()).device` reads it.

    Unknown for a module without parameters.
    """
    for _, tensor in module_tensors(frame, value):
        return frame.resolve(tensor).placement
    return UNKNOWN_PLACEMENT


# Calls


def parameter_operand(frame: Frame, value: Value, thing: Instance, node: cst.CSTNode) -> Operand | None:
    """Return a library module's parameters as an operand of the module's call; None for a module without parameters."""
    if thing.cell is None:
        return None
    cell = thing.cell
    tensor = Tensor(cell.placement, cell.dtype, Rank.SOME, cell.grad)
    return Operand("parameters", frame.place(node), tensor, of_module=display_name(thing))


def constant_bool(value: Value | None, default: bool) -> bool | None:
    """Return the constant value of a boolean argument; `default` when it is absent, None for an unknown value."""
    if value is None:
        return default
    return bool(value.value) if isinstance(value, Const) else None
