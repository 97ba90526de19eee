"""Texts and trace steps of findings about dtype conflicts: where float64 entered the program, and how to avoid it."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.dtype import Dtype, DtypeSource, is_floating
from devlint.domain.placement import Place, Scope, Step, StepKind, history, newest_step
from devlint.domain.value import Tensor
from devlint.explain.place_texts import operand_text, place_text
from devlint.explain.steps import told_of, told_of_data
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.interpreter.state.events import DtypeConflict, Operand

IMPLICIT_SOURCES = (DtypeSource.NUMPY, DtypeSource.PYTHON)
"""Sources of float64 that the program did not request."""


def operand_dtype_steps(*operands: Operand, run: Scope) -> tuple[Step, ...]:
    """Return the steps by which the operands of an operation came to their dtypes, in a run of a function.

    The last one is the call that made this run, if another run of the same function has made a dtype: the reader would
    take both for the same.
    """
    steps: dict[Place, Step] = {}
    for one in operands:
        _add_steps(steps, operand_text(one), one.tensor.dtype, one.tensor if not one.inside else None)
    call = run.called_at
    if call is not None and any(_is_of_another_run(one.tensor.dtype, run) for one in operands):
        name = run.name.removesuffix(".__init__").rpartition(".")[2]
        steps.setdefault(call, Step(StepKind.PASSED, f"handed to another `{name}` here", call, run.caller))
    return tuple(steps.values())


def _is_of_another_run(dtype: Dtype, run: Scope) -> bool:
    """Return whether another run of the function that is run has made a dtype."""
    made = dtype.made or dtype.provenance
    scope = made.scope if made is not None else None
    return scope is not None and scope.body is run.body and scope not in run.around()


def dtype_steps(*told: tuple[str, Dtype]) -> tuple[Step, ...]:
    """Return the steps by which tensors came to their dtypes: for each given dtype, its steps from the oldest on.

    With each dtype stands a noun phrase for its tensor, which the messages of its own steps name. Of several steps at
    the same source location, only the first is returned.
    """
    steps: dict[Place, Step] = {}
    for subject, dtype in told:
        _add_steps(steps, subject, dtype)
    return tuple(steps.values())


def _add_steps(steps: dict[Place, Step], subject: str, dtype: Dtype, tensor: Tensor | None = None) -> None:
    """Add the steps of a dtype, from the oldest on, to those of a story; the first step at a place stays."""
    known = list(history(dtype.made or dtype.provenance))
    entered = next((number for number, one in enumerate(known) if one.kind is StepKind.CONVERTED), len(known))
    for number, step in reversed([*enumerate(known)]):
        # What came before the conversion happened to the data, not to the tensor.
        told = (
            told_of(subject, _as_cast(step, dtype), tensor, newest=number == 0)
            if number < entered
            else told_of_data(step)
        )
        steps.setdefault(step.place, told)


def _as_cast(step: Step, dtype: Dtype) -> Step:
    """Return the step of a transfer that cast a tensor, told as a cast; any other step is returned unchanged."""
    if step.kind is not StepKind.MOVED or step is not (dtype.made or dtype.provenance):
        return step
    return replace(step, message=f"cast to {dtype} by{step.message.partition(' by')[2]}")


def dtype_text(operand: Operand) -> str:
    """Return a phrase with the source text of an operand and its dtype: "`x`, which is float64"."""
    verb = "are" if operand.of_module is not None else "is"
    return f"{operand_text(operand)}, which {verb} {operand.tensor.dtype}"


def dtype_phrase(dtype: Dtype) -> str:
    """Return the name of a dtype, or what a dtype without a name is at least: "float32", "of a floating dtype"."""
    return "of a floating dtype" if dtype.symbol is not None and dtype.symbol.category >= 2 else str(dtype)


def is_implicit(dtype: Dtype) -> bool:
    """Return whether a dtype was not requested by the program but is the default of NumPy, pandas or Python floats."""
    return dtype.source in IMPLICIT_SOURCES or newest_step(dtype.provenance, StepKind.CONVERTED) is not None


def implicit_float64(event: DtypeConflict) -> tuple[Operand, Operand] | None:
    """Return the float64 operand of a dtype conflict, if it is float64 only by default, and the operand it meets.

    The default is that of NumPy, pandas or Python floats; the operand it meets has another floating dtype. Returns None
    if no operand of the conflict is such a float64.
    """
    for wide, narrow in ((event.left, event.right), (event.right, event.left)):
        dtype = wide.tensor.dtype
        if dtype.name == "float64" and is_implicit(dtype) and is_floating(narrow.tensor.dtype.name):
            return wide, narrow
    return None


def conversion_step(dtype: Dtype) -> Step | None:
    """Return the newest step of a dtype's history that converted NumPy or Python data to a tensor.

    Returns None if no step did.
    """
    return newest_step(dtype.provenance, StepKind.CONVERTED)


def is_decided_in_scope(scope: Scope | None, dtype: Dtype) -> bool:
    """Return whether all steps that led to a dtype happened in the given execution of a function.

    The dtype is then the same for every caller of the function.
    """
    return all(step.scope is scope for step in history(dtype.provenance))


def conversion_suggestion(step: Step, dtype: str) -> str:
    """Return the advice, as text, to change a call that converts data to a tensor so that it returns the given dtype.

    `step` is the call as a step in the tensor's history.
    """
    match step.place.node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="tensor" | "as_tensor" | "asarray")) as callee):
            callee_source = place_text(replace(step.place, node=callee))
            return f"give it the dtype: `{callee_source}(..., dtype=torch.{dtype})`"
    return f"cast it at once: `{place_text(step.place, MAX_SUGGESTION_LENGTH)}.to(torch.{dtype})`"
