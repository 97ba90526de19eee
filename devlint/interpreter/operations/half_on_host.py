"""Arithmetic in float16 on the host, for which processors have few instructions."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.device import is_host
from devlint.domain.placement import placement_cases
from devlint.domain.record import replace
from devlint.interpreter.operations.arithmetic import computes
from devlint.interpreter.state.events import HalfOnHost, Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row


def report_half_on_host(frame: Frame, row: Row, operands: Sequence[Operand], node: cst.CSTNode, name: str) -> None:
    """Report the first operand of an operation that computes with it in float16 on the host, on every path."""
    half = next((one for one in operands if one.tensor.dtype.name == "float16"), None)
    if half is None or frame.state.torch_state.autocast or not computes(row):
        return
    cases = [leaf for _, leaf in placement_cases(half.tensor.placement, frame.state.path_condition)]
    if cases and all(is_host(leaf.device) for leaf in cases):
        frame.emit(HalfOnHost(frame.event_context(node), name, replace(half, case=cases[0])))
