"""Transfers in loops that have the same receiver and target in every iteration."""

from __future__ import annotations

import libcst as cst

from devlint.domain.value import DeviceValue
from devlint.interpreter.operations.tensor_uses import is_used_as_tensor
from devlint.interpreter.operations.transfer_requests import TransferRequest
from devlint.interpreter.program.liveness import varies_in_loop
from devlint.interpreter.state.events import RepeatedTransfer
from devlint.interpreter.state.frame import Frame


def report_repeated_transfer(
    frame: Frame, method: str, request: TransferRequest, node: cst.CSTNode, receiver: cst.BaseExpression
) -> None:
    """Emit the event of a loop's transfer of a tensor of unknown origin, if it is the same in every iteration."""
    if (
        request.placement is not None
        and frame.loops
        and is_invariant_in_loop(frame, receiver, request)
        and is_used_as_tensor(frame, node)
    ):
        frame.emit(RepeatedTransfer(frame.event_context(node), method, frame.place(receiver), request.placement))


def is_invariant_in_loop(frame: Frame, receiver: cst.BaseExpression, request: TransferRequest) -> bool:
    """Return whether a transfer in a loop has the same receiver and target in every iteration; False outside loops."""
    if not frame.loops:
        return False
    changed_names = frame.loops[-1].bound_names
    return not varies_in_loop(receiver, changed_names) and _is_target_invariant(frame, request, changed_names)


def _is_target_invariant(frame: Frame, request: TransferRequest, changed: frozenset[str]) -> bool:
    """Return whether the device argument of a transfer in a loop is the same in each iteration.

    `changed` are the names that the loop binds, and those of objects that it may change: no code changes a device.
    """
    node = request.device_node
    if isinstance(node, cst.Name) and node.value in changed and isinstance(frame.evaluate(node), DeviceValue):
        changed = frame.analysis.facts.names_bound(frame.loops[-1].node)
    return node is None or not varies_in_loop(node, changed)
