"""Modules kept by an object of a plain class, which another of its methods may have moved in place by now."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.join import alternatives
from devlint.domain.objects import Dict, Instance, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.domain.record import replace
from devlint.domain.value import AllocationSite, DeviceValue, OpaqueData, Ref, Tensor, Tuple, Value
from devlint.interpreter.objects.class_hierarchy import defined_class, find_method, later_methods
from devlint.interpreter.objects.module_state import (
    is_module,
    library_class_name,
    module_attribute,
    move_registered_tensors,
)
from devlint.interpreter.program.definitions import ClassInfo, FunctionInfo
from devlint.interpreter.program.module_moves import AttributePath, ModuleMove
from devlint.interpreter.state.frame import Frame

MAX_DEPTH: Final = 3
"""Levels of containers and plain objects that are searched for modules."""


def forget_moved_modules(
    frame: Frame, reference: Ref, info: ClassInfo, method: FunctionInfo, built: Collection[FunctionInfo]
) -> None:
    """Make the placements of an object's modules unknown where a method other than `method` moves them in place.

    Code outside the analysis may have called that method before it calls `method`. A cast makes the dtypes unknown.
    `built` are the methods that have run during construction, whose transfers the state contains already.
    """
    thing = frame.instance(reference)
    if thing is None or not any(
        isinstance(one, Ref) for value in thing.attributes.values() for one in alternatives(value)
    ):
        return
    for other in later_methods(frame, info):
        if other is not method and other not in built:
            for move in other.module_moves:
                _forget(frame, reference, move.path, move, 0)


UNSEEN_MOVE: Final = ModuleMove((), moves=True, casts=True)
"""What code that devlint does not see may do to the modules that it is given."""


def forget_held_modules(frame: Frame, value: Value) -> None:
    """Make unknown where the modules are that a container or a plain object holds, since unknown code has received it.

    A module itself is not one that it holds.
    """
    if not is_module(frame, value):
        _forget(frame, value, (), UNSEEN_MOVE, 0)


def forget_moved_by_class(frame: Frame, reference: Ref, seen: set[AllocationSite] | None = None) -> None:
    """Make unknown what a transfer of a module may move beside its registered tensors.

    A class that overrides `_apply`, that of the module or of one of its submodules, moves by it the tensors and modules
    that its objects hold without registering them.
    """
    thing = frame.instance(reference)
    seen = set() if seen is None else seen
    if thing is None or reference.address in seen:
        return
    seen.add(reference.address)
    info = defined_class(thing.cls)
    overrides = info is not None and find_method(frame, info, "_apply") is not None
    for name, value in thing.attributes.items():
        for one in alternatives(value):
            if isinstance(one, Ref) and name in thing.registered:
                forget_moved_by_class(frame, one, seen)
            elif isinstance(one, Ref) and overrides:
                _forget(frame, one, (), UNSEEN_MOVE, 0)
    if overrides:
        forget_plain_placements(frame, reference)


def forget_plain_placements(frame: Frame, reference: Ref) -> None:
    """Make unknown where the plain tensors and the stored devices of an object are that moves them by its own code."""
    thing = frame.instance(reference)
    if thing is not None:
        attributes = {name: _without_placement(value) for name, value in thing.attributes.items()}
        frame.put(reference.address, replace(thing, attributes=attributes))


def _without_placement(value: Value) -> Value:
    """Return a device, or a tensor that is no parameter, with unknown placement; any other value unchanged.

    So is what a library's unknown class has made, such as its model.
    """
    if isinstance(value, DeviceValue):
        return DeviceValue()
    if isinstance(value, OpaqueData):
        return replace(value, placement=UNKNOWN_PLACEMENT)
    return replace(value, placement=UNKNOWN_PLACEMENT) if isinstance(value, Tensor) and value.cell is None else value


def _forget(frame: Frame, value: Value, path: AttributePath, move: ModuleMove, depth: int) -> None:
    """Make the placements of the modules to which a path of attributes leads from a value unknown.

    At the end of the path these are the module itself, or those in a container or a plain object.
    """
    if depth > MAX_DEPTH:
        return
    for one in alternatives(value):
        thing = frame.object_of(one)
        inside: tuple[Value, ...] = ()
        if isinstance(one, Tuple):
            inside = one.items
        elif isinstance(thing, Sequence):
            inside = (*(thing.items or ()), thing.element)
        elif isinstance(thing, Dict):
            inside = (*thing.entries.values(), *([thing.element] if thing.element is not None else []))
        elif isinstance(thing, Instance) and path and path[0] in thing.attributes:
            _forget(frame, thing.attributes[path[0]], path[1:], move, depth)
        elif is_module(frame, one) and not (path and _is_tensor_of_layer(frame, one, path[0])):
            move_registered_tensors(frame, one, lambda placement, dtype: _after(move, placement, dtype))
        elif isinstance(thing, Instance) and not path:
            # The class has such a method of its own, which may move all that the object holds.
            if move.moves and isinstance(one, Ref):
                forget_plain_placements(frame, one)
            inside = tuple(thing.attributes.values())
        for part in inside:
            _forget(frame, part, (), move, depth + 1)


def _is_tensor_of_layer(frame: Frame, value: Value, name: str) -> bool:
    """Return whether an attribute of a library's module, such as `weight`, is a tensor, which is not moved in place."""
    thing = frame.instance(value)
    if thing is None or not isinstance(value, Ref):
        return False
    return isinstance(module_attribute(frame, value, thing, library_class_name(frame, thing), name), Tensor)


def _after(move: ModuleMove, placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
    """Return the placement and dtype of a module's tensor once the module may have been moved or cast."""
    return (UNKNOWN_PLACEMENT if move.moves else placement, UNKNOWN_DTYPE if move.casts else dtype)
