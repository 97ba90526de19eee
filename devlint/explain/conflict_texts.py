"""Texts and steps of device conflicts: how two operands of one operation came to be on two devices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import libcst as cst

from devlint.diagnostic import Confidence
from devlint.domain.device import DeviceSymbol, is_host
from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import Basis, Place, PlacementCase, Step, StepKind, history
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import dotted_name_at, operand_text, operation_text
from devlint.interpreter.state.events import DeviceConflict, Event, Operand


def conflict_location_text(event: DeviceConflict) -> str:
    """Return the end of a sentence that names a conflict's operation: "in `*` when torch.cuda.is_available()"."""
    return f"in {operation_text(event.operation)}{condition_text(event.when)}"


def conflict_steps(event: DeviceConflict, reported: Place) -> tuple[Step, ...]:
    """Return the steps that placed both operands of a conflict, followed by the operation in which they meet.

    The operation is left out when it is itself the place that the finding reports.
    """
    place = event.context.place
    steps = placement_steps(event.misplaced.case, event.reference.case)
    if place == reported:
        return steps
    message = (
        f"meets {operand_text(event.reference)} on {device_text(event.reference.case)} {conflict_location_text(event)}"
    )
    return (*(step for step in steps if step.place != place), Step(StepKind.PASSED, message, place))


def device_source(event: DeviceConflict, operand: Operand) -> str | None:
    """Return the source of an expression for an operand's device; None if the program has none at the conflict.

    It is `x.device` for a named operand, else the device argument of the transfer or factory that placed the operand.
    """
    name = dotted_name_at(operand.place) if operand.of_module is None else None
    if name is not None:
        return f"{name}.device"
    cause = operand.case.placing_step
    written = _device_written(cause.place.node) if cause is not None else None
    if cause is None or written is None:
        return None
    # A name has the same value only in its own scope; a string literal has the same value everywhere.
    return written if cause.scope is event.context.scope or written[-1] in "'\"" else None


def _device_written(node: object) -> str | None:
    """Return the source of the device argument of a transfer or factory call; None if there is no such argument."""
    if not isinstance(node, cst.Call):
        return None
    if isinstance(node.func, cst.Attribute) and node.func.attr.value == "cuda" and not node.args:
        return '"cuda"'
    moves = isinstance(node.func, cst.Attribute) and node.func.attr.value == "to"
    for position, argument in enumerate(node.args):
        keyword = argument.keyword.value if argument.keyword is not None else None
        if keyword == "device" or (moves and position == 0 and keyword is None):
            return cst.Module([]).code_for_node(argument.value)
    return None


def placement_steps(*leaves: PlacementCase) -> tuple[Step, ...]:
    """Return the steps of several placement cases, each case from its oldest step, with one step for each place."""
    steps: dict[Place, Step] = {}
    for leaf in leaves:
        for step in reversed(list(history(leaf.provenance))):
            steps.setdefault(step.place, _with_device(step, leaf))
    return tuple(steps.values())


def _with_device(step: Step, leaf: PlacementCase) -> Step:
    """Return a step with the device added to its message, if it placed the tensor and its message lacks the device."""
    if (
        step is not leaf.placing_step
        or leaf.basis is not Basis.EXPLICIT
        or (is_host(leaf.device) and "host" in step.message)
    ):
        return step
    if step.kind is StepKind.MOVED:
        return replace(step, message=f"{step.message} to {device_text(leaf)}")
    if step.kind is StepKind.CREATED:
        return replace(step, message=f"{step.message}: it is on {device_text(leaf)}")
    return step


def confidence(event: Event, *leaves: PlacementCase, when: PathCondition = NO_CONDITION) -> Confidence:
    """Return the confidence of a finding about an event and the placements of its tensors.

    Three doubts count: a path condition (the event's own or `when`), an assumed placement, and a device that a caller
    chooses. A finding is certain without any of them, possible with all three, and likely otherwise.
    """
    doubts = (
        bool(when or getattr(event, "when", NO_CONDITION)),
        any(leaf.basis is Basis.ASSUMED for leaf in leaves),
        any(isinstance(leaf.device, DeviceSymbol) for leaf in leaves),
    )
    if not any(doubts):
        return Confidence.CERTAIN
    return Confidence.POSSIBLE if all(doubts) else Confidence.LIKELY


def conflict_confidence(event: DeviceConflict) -> Confidence:
    """Return the confidence that the two operands of a conflict are on two devices."""
    return confidence(event, event.misplaced.case, event.reference.case)


def conflict_subject(event: DeviceConflict) -> Hashable:
    """Return the key that conflicts with the same cause share: the places that determined the devices of both operands.

    The key has places and not steps, because each caller and each iteration makes steps of its own for the same line.
    """
    return tuple(_placing_place(one) for one in (event.misplaced, event.reference))


def _placing_place(operand: Operand) -> Place:
    """Return the place of the step that placed an operand; the operand's own place if no step did."""
    cause = operand.case.placing_step
    return cause.place if cause is not None else operand.place
