"""Conflicts inside of files that nobody checks, reported at the call that passes the operands from a checked file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import libcst as cst

from devlint.domain.placement import Step, placement_cases
from devlint.domain.value import OpaqueData, Tensor, Value
from devlint.interpreter.state.events import (
    DtypeConflict,
    Operand,
    OperandConflict,
    RefusedIndexDtype,
    RefusedTargetDtype,
)
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name

_Refusal = TypeVar("_Refusal", RefusedIndexDtype, RefusedTargetDtype)


def at_call_from_given_file(frame: Frame, conflict: OperandConflict) -> OperandConflict:
    """Return a device conflict as one of the call that brought both operands into a file which is not given.

    The innermost call in a given file counts. The conflict is returned unchanged if its own file is given, or if that
    call does not pass both operands by arguments of their own.
    """
    found = _call_from_given_file(frame, conflict.context.place.filename)
    if found is None:
        return conflict
    around, call = found
    operands = (conflict.misplaced, conflict.reference)
    misplaced, reference = (_as_argument(around, call, one, one.case.placing_step, _placing_steps) for one in operands)
    if misplaced is None or reference is None or misplaced.place == reference.place:
        return conflict
    return replace(conflict, context=around.event_context(call), misplaced=misplaced, reference=reference)


def dtypes_at_call_from_given_file(frame: Frame, conflict: DtypeConflict) -> DtypeConflict:
    """Return a dtype conflict as one of the call that brought an operand to another one, or to a module's weights."""
    found = _call_from_given_file(frame, conflict.context.place.filename)
    if found is None:
        return conflict
    around, call = found
    left, right = (
        one
        if one.of_module is not None
        else _as_argument(around, call, one, one.tensor.dtype.provenance, _steps_of_dtype)
        for one in (conflict.left, conflict.right)
    )
    if left is None or right is None or left.place == right.place:
        return conflict
    return replace(conflict, context=around.event_context(call), left=left, right=right)


def refusal_at_call_from_given_file(frame: Frame, event: _Refusal) -> _Refusal:
    """Return the refusal of an operand's dtype as one of the call that brought the operand into a file not given."""
    found = _call_from_given_file(frame, event.context.place.filename)
    if found is None:
        return event
    around, call = found
    step = event.operand.tensor.dtype.provenance
    operand = _as_argument(around, call, event.operand, step, _steps_of_dtype)
    return event if operand is None else replace(event, context=around.event_context(call), operand=operand)


def _call_from_given_file(frame: Frame, filename: str) -> tuple[Frame, cst.Call] | None:
    """Return the innermost running call that is written in a given file, if a file is not given; otherwise None."""
    program = frame.analysis.program
    around = frame
    while not program.is_given(filename) and around.caller is not None:
        around, call = around.caller
        if program.is_given(around.module.filename):
            return (around, call) if isinstance(call, cst.Call) else None
    return None


def _as_argument(
    frame: Frame,
    call: cst.Call,
    operand: Operand,
    step: Step | None,
    steps_of: Callable[[Tensor], Iterator[Step | None]],
) -> Operand | None:
    """Return an operand as the argument of a call that carries it; None where no argument of its own does.

    The argument is where a step of the operand's history was made, or holds a tensor that has this step too.
    """
    for argument in call.args:
        if step is None or argument.star or operand.of_module is not None:
            continue
        value = frame.evaluate(argument.value) if dotted_name(argument.value) is not None else None
        tensor = _as_settled_tensor(frame, value)
        if step.place.node is argument.value or (tensor is not None and any(one is step for one in steps_of(tensor))):
            return replace(operand, place=frame.place(argument.value))
    return None


def _as_settled_tensor(frame: Frame, value: Value | None) -> Tensor | None:
    """Return a tensor, or data on one device as a tensor; None for other values."""
    match value:
        case Tensor():
            return frame.resolve(value)
        case OpaqueData(placement=placement):
            return Tensor(placement)
    return None


def _placing_steps(tensor: Tensor) -> Iterator[Step | None]:
    """Yield the steps that put a tensor where it may be."""
    return (leaf.placing_step for _, leaf in placement_cases(tensor.placement))


def _steps_of_dtype(tensor: Tensor) -> Iterator[Step | None]:
    """Yield the step that gave a tensor its dtype."""
    yield tensor.dtype.provenance
