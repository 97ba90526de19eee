"""Objects of library classes that devlint's description files declare: where their tensors lie, and what they move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.availability import is_available
from devlint.domain.device import ACCELERATOR, ANY_INDEX, CPU, KnownDevice
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.objects import Dict, Instance, ParameterCell, Registration
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    ConditionalPlacement,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    is_unknown_placement,
)
from devlint.domain.value import (
    UNKNOWN,
    ConditionalValue,
    LibraryName,
    OpaqueData,
    ProgramDefinition,
    Ref,
    Tensor,
    Tuple,
    Unknown,
    Value,
    device_symbol,
)
from devlint.interpreter.objects.class_hierarchy import ancestors
from devlint.interpreter.objects.module_state import (
    is_module,
    module_tensors,
    move_registered_tensors,
    placement_of_module,
)
from devlint.interpreter.objects.tensor_containers import is_tensor_container
from devlint.interpreter.program.definitions import ClassInfo
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.frame import Frame
from devlint.semantics.row import Row

DATA_LOADER: Final = "torch.utils.data.DataLoader"
"""The dotted name of torch's DataLoader class."""

COLLATED: Final = "collated"
"""The kind of origin of what a function of the program makes of a loader's samples, where it is not known."""
MOVED_UNSEEN: Final = "moved"
"""The kind of origin of a value of unknown type that a transfer as a statement may have moved in place."""


def find_member_row(frame: Frame, receiver: Value | None, name: str) -> Row | None:
    """Return the semantics table's row for a method or attribute of a library object; None without one.

    The row is found by the object's library classes, in lookup order.
    """
    for cls in library_classes(frame, receiver):
        row = frame.analysis.table.find(f"{cls}.{name}")
        if row is not None:
            return row
    return None


def library_classes(frame: Frame, receiver: Value | None) -> Iterator[str]:
    """Yield the library class of an object, or the library classes from which the object's program class inherits."""
    thing = frame.instance(receiver)
    if thing is None:
        return
    if isinstance(thing.cls, str):
        yield thing.cls
    elif isinstance(thing.cls, ProgramDefinition) and isinstance(thing.cls.definition, ClassInfo):
        yield from (one.name for one in ancestors(frame, thing.cls.definition) if isinstance(one, LibraryName))


# Placements


def object_placement(frame: Frame, receiver: Value) -> Placement:
    """Return the placement of a library object's own tensors.

    An object whose placement is unknown gets a symbolic device of its own. Anything but an instance on the heap has an
    unknown placement, and so has a module of which unknown code, such as a trainer, may have moved some parts. While it
    is being built, a module without tensors says that it is on the host: nobody has moved it yet.
    """
    thing = frame.instance(receiver)
    if thing is None or not isinstance(receiver, Ref):
        return UNKNOWN_PLACEMENT
    if is_module(frame, receiver):
        placement = placement_of_module(frame, receiver)
        if not is_unknown_placement(placement) or not frame.analysis.symbolic or _holds_tensors(frame, receiver):
            return placement
        if frame.analysis.construction_depth:
            return PlacementCase(CPU, Basis.DEFAULT)
    elif thing.cell is not None:
        return thing.cell.placement
    return PlacementCase(device_symbol(("own", receiver.address), "the module"), Basis.CALLER)


def _holds_tensors(frame: Frame, module: Value) -> bool:
    """Return whether a module has parameters that the analysis has seen, or one of its submodules has."""
    return next(iter(module_tensors(frame, module)), None) is not None


def dataset_placement(frame: Frame, bound: BoundArguments, name: str, node: cst.CSTNode) -> Placement:
    """Return the placement of the elements of a dataset passed to a library call; by assumption the host if unknown.

    `name` is the parameter that takes the dataset, or the transforms of one. Most datasets yield host tensors; where a
    function of the program puts them, its call would tell, and so does a transform around a dataset of unknown class.
    """
    for argument in bound.get(name, ()):
        value = argument.value
        if isinstance(value, ProgramDefinition):
            return UNKNOWN_PLACEMENT
        if isinstance(value, Unknown):
            placed = frame.analysis.facts.placed_datasets
            if placed.are_around(frame.module, transforms_only=True):
                return UNKNOWN_PLACEMENT
        several: list[Value] = [value]
        if not isinstance(value, Ref) or frame.instance(value) is None:
            found = frame.iterate(value, argument.node)
            several = [*(found.items or ()), found.any]
        for one in several:
            thing = frame.instance(one)
            if thing is not None and thing.cell is not None:
                return thing.cell.placement
    return PlacementCase(CPU, Basis.ASSUMED, loader_step(frame, "loader", node))


def loader_step(frame: Frame, loader: str, node: cst.CSTNode) -> Step:
    """Return the first step of data that a loader yields, which assumes the host; `loader` is a noun for the loader."""
    return frame.assuming_step(
        StepKind.ASSUMED,
        f"comes from a {loader}, which yields host tensors",
        node,
        AssumptionKind.LOADER,
        "the loader yields host tensors",
    )


CHOSEN_PLACEMENT: Final = ConditionalPlacement(
    is_available().formula, PlacementCase(KnownDevice(ACCELERATOR, ANY_INDEX)), PlacementCase(CPU)
)
"""The device that a library object chooses by itself: the process's accelerator, or the host if there is none."""


def move_arguments(frame: Frame, row: Row, bound: BoundArguments, placement: Placement) -> BoundArguments:
    """Return the arguments of a library call after the library has moved some of them to a device.

    The semantics table's row for the call declares which ones (`Row.moves`).
    """
    moved = dict(bound)
    for name in row.moves:
        moved[name] = [replace(one, value=move_value(frame, one.value, placement)) for one in bound.get(name, ())]
    return moved


def move_value(frame: Frame, value: Value, placement: Placement) -> Value:
    """Return a value after a library has moved the tensors inside it to a placement.

    Modules, dicts, loaders and tensor containers are updated in the heap. Of two values of which a condition chooses
    one, both are moved: the other one is not used.
    """
    match value:
        case Tensor():
            return replace(frame.resolve(value), placement=placement, cell=None, fresh=None, pinned=None)
        case OpaqueData():
            return OpaqueData(placement, of_loader=value.of_loader, origin=value.origin)
        case Tuple(items=items):
            return replace(value, items=tuple(move_value(frame, one, placement) for one in items))
        case ConditionalValue(yes=yes, no=no):
            return replace(value, yes=move_value(frame, yes, placement), no=move_value(frame, no, placement))
        case Ref(address=address):
            thing = frame.get(address)
            if is_module(frame, value) or is_tensor_container(frame, value):
                move_registered_tensors(frame, value, lambda before, dtype: (placement, dtype))
            elif isinstance(thing, Dict):
                entries = {key: move_value(frame, one, placement) for key, one in thing.entries.items()}
                frame.put(address, replace(thing, entries=entries))
            elif isinstance(thing, Instance) and thing.cls == DATA_LOADER:
                frame.put(address, replace(thing, cell=ParameterCell(placement, UNKNOWN_DTYPE)))
    return value


def library_result(
    frame: Frame, row: Row, bound: BoundArguments, result: Tensor, form: str, node: cst.CSTNode
) -> Value:
    """Return a library call's result in a form that only devlint's description files for libraries use.

    `batch` is data of unknown structure, `object:CLASS` a new object of a library class, and `arguments:a,b` the
    arguments of these names. Any other form gives an unknown value.
    """
    kind, _, cls = form.partition(":")
    match kind:
        case "batch":
            return OpaqueData(result.placement)
        case "object":
            name = cls.replace("{class}", row.name.rpartition(".")[0])
            cell = _initial_cell(frame, name, result.placement, result.dtype)
            return frame.allocate(node, _with_constructor_tensors(Instance(name, {}, cell=cell), row, bound))
        case "arguments":
            values = [one.value for name in cls.split(",") for one in bound.get(name, ())]
            return values[0] if len(values) == 1 else Tuple(tuple(values))
    return UNKNOWN


def _with_constructor_tensors(thing: Instance, row: Row, bound: BoundArguments) -> Instance:
    """Return a new tensor container with the tensors passed to its constructor as its buffers.

    A library object that is not a tensor container is returned unchanged.
    """
    given = [(name, bound[name][0].value) for name in row.tensors if row.special == "batch" and bound.get(name)]
    for name, value in given:
        thing = thing.with_attribute(name, value, Registration.BUFFER)
    return thing


def _initial_cell(frame: Frame, name: str, placement: Placement, dtype: Dtype) -> ParameterCell | None:
    """Return the heap record of placement and dtype that the tensors of a new library object share.

    None for a module class without parameters and buffers.
    """
    row = frame.analysis.table.find(name)
    if row is not None and row.module is not None and row.module.parameters == row.module.buffers == "never":
        return None
    return ParameterCell(placement, dtype)
