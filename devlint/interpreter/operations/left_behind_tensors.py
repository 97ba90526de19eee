"""Host tensors that a program for any device has failed to move to the device that its caller chooses."""

from __future__ import annotations

from collections.abc import Hashable

from devlint.diagnostic import AssumptionKind
from devlint.domain.device import (
    UNKNOWN_DEVICE,
    DeviceRelation,
    DeviceSymbol,
    KnownDevice,
    is_accelerator,
    is_host,
    relate_devices,
)
from devlint.domain.path_conditions import PathCondition, closure
from devlint.domain.placement import Basis, Placement, PlacementCase, Scope, Step, StepKind, history, placement_cases
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.device_facts import is_device_tested
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame


def storing_step(leaf: PlacementCase) -> Step | None:
    """Return the newest provenance step that stored a tensor in a plain attribute of a module; None without one.

    Storing in a container that such an attribute holds counts too.
    """
    return next(
        (one for one in history(leaf.provenance) if one.kind in (StepKind.STORED, StepKind.STORED_INSIDE)), None
    )


def is_left_behind(frame: Frame, misplaced: Operand, reference: Operand, when: PathCondition) -> bool:
    """Return whether one of two operands is a host tensor that a program for any device has failed to move.

    The other operand is on a device that the caller chooses. The host tensor must be a factory's default, a stored
    plain attribute that the program never moves, or a loader's where the program has moved the other operand, and the
    path must not have tested the device. Code that moves nothing must be meant for any device. Data that the program
    itself passes to a constructor is on no device of the caller's choice.
    """
    device = reference.case.device
    if not isinstance(device, DeviceSymbol) or reference.case.basis is not Basis.CALLER:
        return False
    forgotten = is_forgotten_batch(misplaced, reference)
    if misplaced.of_module is None and not misplaced.tensor.rank.is_dimensioned and not forgotten:
        return False
    stored = storing_step(misplaced.case)
    if not is_host(misplaced.case.device):
        return False
    if misplaced.case.basis is not Basis.DEFAULT and stored is None and not forgotten:
        return False
    if is_moved_conditionally(misplaced.tensor.placement, misplaced.case) or _is_data_of_program(frame, device.origin):
        return False
    path_condition = closure(frame.state.path_condition | when)
    return (forgotten or _in_generic_code(frame)) and not is_device_tested(path_condition, device.origin)


def are_of_different_types(one: Operand, other: Operand) -> bool:
    """Return whether two operands are surely on devices of different types, such as the host and an accelerator."""
    left, right = one.case.device, other.case.device
    different = relate_devices(left, right) is DeviceRelation.DIFFERENT
    return different and isinstance(left, KnownDevice) and isinstance(right, KnownDevice) and left.type != right.type


def is_forgotten_batch(misplaced: Operand, reference: Operand) -> bool:
    """Return whether an operand is data of a loader, which the program has not moved as it has moved the other one."""
    came, moved = misplaced.case.placing_step, reference.case.placing_step
    if came is None or came.assumption is None or moved is None:
        return False
    return came.assumption.kind is AssumptionKind.LOADER and moved.kind is StepKind.MOVED


def _is_data_of_program(frame: Frame, origin: Hashable) -> bool:
    """Return whether a device is that of an element of data that the program itself passes to a constructor."""
    match origin:
        case ("element", ("param", FunctionInfo() as info, str(name))):
            return info.owner is not None and frame.analysis.facts.constructor_data.is_made(info, name)
        case ("element" | "item", inner, *_):
            return _is_data_of_program(frame, inner)
    return False


def is_moved_conditionally(placement: Placement, case: PlacementCase) -> bool:
    """Return whether the program moves a tensor on some paths only, or creates it on another device there.

    `case` is one case of the tensor's placement. Such a program decides by itself when a move is needed.
    """
    for _, leaf in placement_cases(placement):
        if leaf.device == UNKNOWN_DEVICE or is_accelerator(leaf.device):
            return True
        step = leaf.placing_step
        while step is not None and step.source is not None:
            step = step.source
            if step is case.placing_step:
                return True
    return False


def _in_generic_code(frame: Frame) -> bool:
    """Return whether the running function, or a function on the call stack, is meant for any device.

    Methods of modules count as such.
    """
    scope: Scope | None = frame.scope
    while scope is not None:
        if scope.method_of_module or scope.any_device:
            return True
        scope = scope.caller
    return False
