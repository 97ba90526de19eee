"""Transfers in loops that have the same receiver and target in every iteration."""

from __future__ import annotations

import libcst as cst

from devlint.domain.value import DeviceValue
from devlint.interpreter.operations.caller_expressions import in_caller
from devlint.interpreter.operations.tensor_uses import is_used_as_tensor
from devlint.interpreter.operations.transfer_requests import TransferRequest
from devlint.interpreter.program.liveness import names_mutated_inside, varies_in_loop
from devlint.interpreter.state.events import RepeatedTransfer, Repetition
from devlint.interpreter.state.frame import Frame, LoopFrame
from devlint.syntax.tree_walk import names_in_target


def report_repeated_transfer(
    frame: Frame, method: str, request: TransferRequest, node: cst.CSTNode, receiver: cst.BaseExpression
) -> None:
    """Emit the event of a loop's transfer of a tensor of unknown origin, if it is the same in every iteration."""
    if request.placement is None:
        return
    repetition = repetition_of(frame, receiver, request, node)
    if repetition is not None and is_used_as_tensor(frame, node):
        context, place = frame.event_context(node), frame.place(receiver)
        frame.emit(RepeatedTransfer(context, method, place, request.placement, repetition))


def repetition_of(
    frame: Frame, receiver: cst.BaseExpression, request: TransferRequest, node: cst.CSTNode
) -> Repetition | None:
    """Return the loop in every iteration of which a transfer has the same receiver and target; None if none has.

    The loop may be around a call of the function that transfers its argument, and around a loop that transfers each
    part of a container.
    """
    moved: cst.BaseExpression | None = receiver
    target, at = request.device_node, node
    around = frame
    while moved is not None:
        for loop in reversed(around.loops):
            if not _varies(around, moved, loop):
                same = _is_target_invariant(around, target, loop)
                return Repetition(loop.loop, around.place(at), around.state.path_condition) if same else None
            moved = _iterated_container(loop.node, moved)
            if moved is None:
                return None
        given = in_caller(around, target) if target is not None else None
        if around.caller is None or (target is not None and given is None):
            return None
        moved, target = in_caller(around, moved), given
        around, at = around.caller
    return None


def _varies(frame: Frame, moved: cst.BaseExpression, loop: LoopFrame) -> bool:
    """Return whether an expression may differ from iteration to iteration, by what functions inside change as well."""
    if varies_in_loop(moved, loop.bound_names):
        return True
    function = frame.function
    return (
        function is not None and bool(function.captured_names) and varies_in_loop(moved, names_mutated_inside(function))
    )


def _iterated_container(loop: cst.CSTNode, part: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the dict whose values a comprehension takes one by one, if an expression is the name of such a value.

    What a loop takes from anything else may be another tensor each time: the batches of a loader.
    """
    match loop:
        case cst.CompFor(
            target=target,
            iter=cst.Call(func=cst.Attribute(value=container, attr=cst.Name(value="items" | "values")), args=[]),
        ) if isinstance(part, cst.Name) and part.value in names_in_target(target):
            return container
    return None


def _is_target_invariant(frame: Frame, node: cst.BaseExpression | None, loop: LoopFrame) -> bool:
    """Return whether the device argument of a transfer, or of the call around it, is the same in each iteration.

    No code changes a device in place.
    """
    changed = loop.bound_names
    if isinstance(node, cst.Name) and node.value in changed and isinstance(frame.evaluate(node), DeviceValue):
        changed = frame.analysis.facts.names_bound(loop.node)
    return node is None or not varies_in_loop(node, changed)
