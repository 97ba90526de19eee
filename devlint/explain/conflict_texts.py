"""Texts and trace steps of device-conflict findings: how two operands of one operation came to be on two devices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.device import is_host
from devlint.domain.placement import Basis, Place, PlacementCase, Step, StepKind, history, steps_elsewhere
from devlint.domain.value import Tensor
from devlint.explain.causes import built_at
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import callee_text, dotted_name_at, operand_text, operation_text, text_with_suffix
from devlint.explain.steps import told_of
from devlint.interpreter.state.events import DeviceConflict, Operand
from devlint.syntax.source_code import source_code


def conflict_location_text(event: DeviceConflict) -> str:
    """Return the end of a sentence that names a device conflict's operation and condition: "in `*` when use_gpu"."""
    return f"in {operation_text(event.operation)}{condition_text(event.when)}"


def conflict_steps(event: DeviceConflict, reported: Place) -> tuple[Step, ...]:
    """Return the trace of a device conflict: the steps that brought both operands to their devices, then the operation.

    The operation is left out when the finding itself is reported at the operation.
    """
    place = event.context.place
    steps = operand_steps(event.misplaced, event.reference)
    if place == reported:
        return steps
    verb = "meet" if event.misplaced.of_module is not None else "meets"
    message = (
        f"{operand_text(event.misplaced)} on {device_text(event.misplaced.case)} {verb}"
        f" {operand_text(event.reference)} on {device_text(event.reference.case)} {conflict_location_text(event)}"
    )
    return (*steps_elsewhere(steps, place), Step(StepKind.PASSED, message, place))


def device_source(event: DeviceConflict, operand: Operand) -> str | None:
    """Return the source text of an expression for an operand's device, valid at a device conflict.

    It is `x.device` for an operand with the name `x`, else the device argument of the transfer or factory call that put
    the operand on its device. Returns None if there is no such expression.
    """
    name = dotted_name_at(operand.place) if operand.of_module is None else None
    if name is not None:
        return f"{name}.device"
    cause = operand.case.placing_step
    written = device_written(cause.place) if cause is not None else None
    if cause is None or written is None:
        return None
    # A name has the same value only in its own scope; a string literal has the same value everywhere.
    return written if cause.scope is event.context.scope or written[-1] in "'\"" else None


def device_expression(event: DeviceConflict, operand: Operand) -> str:
    """Return the source text of an expression for an operand's device, as advice names it.

    It is valid at the conflict, and may compute the operand again.
    """
    found = device_source(event, operand)
    if found is not None:
        return found
    if operand.of_module is not None:
        return f"next({callee_text(operand.place)}.parameters()).device"
    return text_with_suffix(operand.place, ".device")


def device_written(place: Place) -> str | None:
    """Return the source text of the device argument of a transfer or factory call.

    Returns None if the node at the place has no such argument.
    """
    node = place.node
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "cuda" and not node.args:
        return '"cuda"'
    moves = isinstance(node.func, cst.Attribute) and node.func.attr.value == "to"
    for position, argument in enumerate(node.args):
        keyword = argument.keyword.value if argument.keyword is not None else None
        if keyword == "device" or (moves and position == 0 and keyword is None):
            return source_code(place.unit, argument.value)
    return None


def operand_steps(*operands: Operand) -> tuple[Step, ...]:
    """Return the steps by which the operands of an operation came to their devices."""
    steps: dict[Place, Step] = {}
    for one in operands:
        _add_steps(steps, operand_text(one), one.case, one.tensor if not one.inside else None)
    return tuple(steps.values())


def placement_steps(*told: tuple[str, PlacementCase]) -> tuple[Step, ...]:
    """Return the steps by which tensors came to their devices: for each given placement, its steps from the oldest on.

    With each placement stands a noun phrase for its tensor, which the messages of its own steps name. Of several steps
    at the same source location, only the first is returned.
    """
    steps: dict[Place, Step] = {}
    for subject, leaf in told:
        _add_steps(steps, subject, leaf)
    return tuple(steps.values())


def _add_steps(steps: dict[Place, Step], subject: str, leaf: PlacementCase, tensor: Tensor | None = None) -> None:
    """Add the steps of a placement, from the oldest on, to those of a story; the first step at a place stays."""
    for step in reversed(list(history(leaf.provenance))):
        steps.setdefault(
            step.place, told_of(subject, _with_device(step, leaf), tensor, newest=step is leaf.placing_step)
        )


def _with_device(step: Step, leaf: PlacementCase) -> Step:
    """Return a history step whose message also names the device that the step put the tensor on.

    The device is added only if the step determined the tensor's device, the program wrote that device out, and the
    message does not name it yet. Any other step is returned unchanged.
    """
    preposition = _PREPOSITIONS.get(step.kind)
    if (
        preposition is None
        or step is not leaf.placing_step
        or leaf.basis is not Basis.EXPLICIT
        or (is_host(leaf.device) and "host" in step.message)
    ):
        return step
    done, by, means = step.message.partition(" by ")
    return replace(step, message=f"{done} {preposition} {device_text(leaf)}{by}{means}")


_PREPOSITIONS: Final = {StepKind.MOVED: "to", StepKind.CREATED: "on"}
"""The word before the device, for the kinds of steps that put a tensor on one."""


def conflict_subject(event: DeviceConflict) -> Hashable:
    """Return a key that is equal for all device conflicts with the same cause, so that they are reported as one bug.

    The key consists of the two source locations that determined the devices of the operands. It does not contain the
    steps of the operands' histories, because each caller and each loop iteration makes new step objects for the same
    source location.
    """
    return tuple(_cause_location(one) for one in (event.misplaced, event.reference))


def _cause_location(operand: Operand) -> Place:
    """Return the source location where an operand was created or moved to its device.

    For the parameters of a module, it is where the module was built. If unknown, the operand's expression.
    """
    cause = operand.case.placing_step
    if operand.of_module is not None:
        return built_at(cause) or operand.place
    return cause.place if cause is not None else operand.place
