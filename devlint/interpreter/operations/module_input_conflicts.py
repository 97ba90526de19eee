"""Device conflicts between the parameters of a module and an input that the module is called with."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.device import Device, DeviceRelation, relate_devices
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import placement_cases
from devlint.interpreter.objects.module_state import module_tensors
from devlint.interpreter.state.events import CallOnStack, EventContext, ModuleInputConflict, Operand
from devlint.interpreter.state.frame import Frame


def module_input_conflict(
    frame: Frame, context: EventContext, operation: str, misplaced: Operand, reference: Operand, when: PathCondition
) -> ModuleInputConflict | None:
    """Return the conflict event for a module's parameter or buffer and an input of the module on another device.

    None for other operands. The conflict is located at the outermost module call that received the input, if there is
    one.
    """
    for weights, given in ((misplaced, reference), (reference, misplaced)):
        if weights.of_module is None and weights.tensor.cell is None and not _is_buffer(frame, context, weights):
            continue
        call = _entry_call(frame, context, weights, given, when)
        if call is not None:
            return ModuleInputConflict(
                replace(context, place=call.place), operation, misplaced, reference, when, module_call=call
            )
    for weights in (misplaced, reference):
        if weights.of_module is not None:
            return ModuleInputConflict(context, operation, misplaced, reference, when)
    return None


def _entry_call(
    frame: Frame, context: EventContext, weights: Operand, given: Operand, when: PathCondition
) -> CallOnStack | None:
    """Return the outermost module call on the call stack that received an input from another device.

    Calls of modules that have a parameter on the input's device are passed over. None without such a call.
    """
    arrived = given.case.placing_step
    if arrived is None or arrived is weights.case.placing_step:
        return None
    for call in context.calls:
        if call.is_module and arrived in call.causes and not _has_parameter_on(frame, call, given.case.device, when):
            return call
    return None


def _is_buffer(frame: Frame, context: EventContext, operand: Operand) -> bool:
    """Return whether an operand is a registered buffer of a module that is called on the call stack."""
    return any(
        tensor == operand.tensor
        for call in context.calls
        if call.is_module and call.receiver is not None
        for _, tensor in module_tensors(frame, call.receiver, buffers=True)
    )


def _has_parameter_on(frame: Frame, call: CallOnStack, device: Device, when: PathCondition) -> bool:
    """Return whether the module that a call on the call stack calls has a parameter on a given device.

    If so, a device conflict inside the call is not one of the module as a whole.
    """
    return call.receiver is not None and any(
        relate_devices(leaf.device, device) is DeviceRelation.SAME
        for _, tensor in module_tensors(frame, call.receiver)
        for _, leaf in placement_cases(frame.resolve(tensor).placement, frame.state.path_condition | when)
    )
