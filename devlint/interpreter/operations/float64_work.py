"""Computations in float64 on an accelerator, with a tensor that the program moved there."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devlint.domain.device import is_accelerator
from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.placement import StepKind, newest_step, placement_cases
from devlint.domain.record import replace
from devlint.domain.value import Rank
from devlint.interpreter.operations.arithmetic import computes
from devlint.interpreter.state.events import Float64Work, Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row


def report_float64_work(
    frame: Frame, row: Row, operands: Sequence[Operand], result: Dtype, node: cst.CSTNode, name: str
) -> None:
    """Report the operands in float64 with which an operation computes on an accelerator, where a transfer put them.

    Beside a number or a single element nothing is slow: what has no dimension is left out. Where the program itself
    asks for float64 of another operand, it means to compute so.
    """
    if result.name != "float64" and not row.match:
        return
    if any(map(_is_meant, operands)):
        return
    for operand in operands:
        tensor = operand.tensor
        if tensor.dtype.name != "float64" or tensor.rank is Rank.ZERO or operand.of_module is not None:
            continue
        for _, leaf in placement_cases(tensor.placement, frame.state.path_condition):
            moved = newest_step(leaf.provenance, StepKind.MOVED) if is_accelerator(leaf.device) else None
            if moved is not None and computes(row):
                frame.emit(Float64Work(frame.event_context(node), name, replace(operand, case=leaf), moved))


def _is_meant(operand: Operand) -> bool:
    """Return whether the program itself asks for float64 of an operand, also of one whose class is not known."""
    dtype = operand.tensor.dtype
    if dtype.name == "float64" and dtype.source is DtypeSource.EXPLICIT:
        return True
    match operand.place.node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="double")), args=[]):
            return True
    return False
