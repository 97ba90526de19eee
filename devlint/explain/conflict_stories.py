"""Conflicts in words: how two operands came to lie on two devices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import libcst as cst

from devlint.diagnostic import Confidence
from devlint.domain.device import DeviceSymbol, is_host
from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import Basis, Place, PlacementCase, Step, StepKind, history
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.places import dotted_name_at, operand_text, operation_text
from devlint.interpreter.state.events import DeviceConflict, Event, Operand


def where_operands_meet(event: DeviceConflict) -> str:
    """Where and when two operands meet, to be put behind a sentence: "in `*` when torch.cuda.is_available()"."""
    return f"in {operation_text(event.operation)}{condition_text(event.when)}"


def conflict_steps(event: DeviceConflict, reported: Place) -> tuple[Step, ...]:
    """Both operands' stories; and last the operation where they meet, unless it is itself what is `reported`."""
    place = event.context.place
    told = placement_steps(event.misplaced.leaf, event.other.leaf)
    if place == reported:
        return told
    message = f"meets {operand_text(event.other)} on {device_text(event.other.leaf)} {where_operands_meet(event)}"
    return (*(step for step in told if step.place != place), Step(StepKind.PASSED, message, place))


def device_source_of(event: DeviceConflict, operand: Operand) -> str | None:
    """How the program can write the device of an operand: `x.device`, or what its transfer or factory was given."""
    name = dotted_name_at(operand.place) if operand.of_module is None else None
    if name is not None:
        return f"{name}.device"
    cause = operand.leaf.placing_step
    written = _device_written(cause.place.node) if cause is not None else None
    if cause is None or written is None:
        return None
    # A name means the same only where it was written; a string means the same everywhere.
    return written if cause.scope is event.context.scope or written[-1] in "'\"" else None


def _device_written(node: object) -> str | None:
    """The device in the source of a transfer or a factory call."""
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
    """The stories of some leaves one after another, each from its oldest step, no place told twice."""
    told: dict[Place, Step] = {}
    for leaf in leaves:
        for step in reversed(list(history(leaf.provenance))):
            told.setdefault(step.place, _with_device(step, leaf))
    return tuple(told.values())


def _with_device(step: Step, leaf: PlacementCase) -> Step:
    """The step that placed the leaf also says where, unless its message does."""
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
    """Certain of what is known on every path; less sure of what a condition, a custom or a caller decides.

    The conditions are the event's own and `when`.
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
    """How sure it is that two operands clash."""
    return confidence(event, event.misplaced.leaf, event.other.leaf)


def conflict_subject(event: DeviceConflict) -> Hashable:
    """The bug behind a clash: what placed one operand, and what placed the other.

    Places and not steps: each caller and each round of a loop makes steps of its own for the same line.
    """
    return tuple(_placed_by(one) for one in (event.misplaced, event.other))


def _placed_by(operand: Operand) -> Place:
    cause = operand.leaf.placing_step
    return cause.place if cause is not None else operand.place
