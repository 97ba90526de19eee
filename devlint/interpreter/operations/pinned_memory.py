"""Pinned (page-locked) memory of the host: which tensors may be copied into it, and where the copies lie."""

from __future__ import annotations

import libcst as cst

from devlint.domain.device import CPU, is_accelerator, is_host
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Place,
    Placement,
    PlacementCase,
    StepKind,
    map_cases,
    placement_cases,
)
from devlint.domain.record import replace
from devlint.interpreter.state.events import Operand, PinnedAcceleratorTensor
from devlint.interpreter.state.frame import Frame


def report_pinned_accelerator(
    frame: Frame, operand: Operand, asked: str, node: cst.CSTNode, loader: Place | None = None
) -> bool:
    """Report a tensor on an accelerator that is to be copied into pinned memory; return whether it was reported.

    `asked` is the code that asks for pinned memory, at the syntax node `node`, or in the call that made a `loader`.
    """
    for when, leaf in placement_cases(operand.tensor.placement, frame.state.path_condition):
        if is_accelerator(leaf.device):
            context = frame.event_context(node)
            frame.emit(PinnedAcceleratorTensor(context, asked, replace(operand, case=leaf), when, loader))
            return True
    return False


def placement_of_pinned(frame: Frame, placement: Placement, node: cst.CSTNode) -> Placement:
    """Return the placement of what `.pin_memory()` returns: the host, as the method refuses any other tensor.

    After a refused call nothing is known, so that one bug is reported once.
    """
    step = frame.step(StepKind.MOVED, "copied to pinned memory of the host", node)

    def pinned(leaf: PlacementCase) -> PlacementCase:
        if is_host(leaf.device):
            return leaf
        return UNKNOWN_PLACEMENT if is_accelerator(leaf.device) else PlacementCase(CPU, Basis.EXPLICIT, step)

    return map_cases(placement, pinned)
