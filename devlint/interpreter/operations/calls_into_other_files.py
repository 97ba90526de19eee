"""Conflicts inside of files that nobody checks, reported at the call that passes both operands from a checked file."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.placement import placement_cases
from devlint.domain.value import OpaqueData, Tensor
from devlint.interpreter.state.events import Operand, OperandConflict
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name


def at_call_from_given_file(frame: Frame, conflict: OperandConflict) -> OperandConflict:
    """Return a conflict as one of the call that brought both operands into a file which is not among the given ones.

    The innermost call in a given file counts. The conflict is returned unchanged if its own file is given, or if that
    call does not pass both operands by arguments of their own.
    """
    program = frame.analysis.program
    if program.is_given(conflict.context.place.filename):
        return conflict
    around = frame
    while around.caller is not None:
        around, call = around.caller
        if program.is_given(around.module.filename) and isinstance(call, cst.Call):
            misplaced, reference = (_as_argument(around, call, one) for one in (conflict.misplaced, conflict.reference))
            if misplaced is None or reference is None or misplaced.place == reference.place:
                return conflict
            return replace(conflict, context=around.event_context(call), misplaced=misplaced, reference=reference)
    return conflict


def _as_argument(frame: Frame, call: cst.Call, operand: Operand) -> Operand | None:
    """Return an operand as the argument of a call that carries it, by the step that put it on its device; else None."""
    step = operand.case.placing_step
    if step is None or operand.of_module is not None:
        return None
    for argument in call.args:
        value = frame.evaluate(argument.value) if dotted_name(argument.value) is not None else None
        if isinstance(value, (Tensor, OpaqueData)) and not argument.star:
            placement = frame.resolve(value).placement if isinstance(value, Tensor) else value.placement
            if any(leaf.placing_step is step for _, leaf in placement_cases(placement)):
                return replace(operand, place=frame.place(argument.value))
    return None
