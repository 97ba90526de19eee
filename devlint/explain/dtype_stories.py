"""The stories of dtypes: where float64 came in, and how to keep it out."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.dtype import Dtype, DtypeSource, is_floating
from devlint.domain.placement import Place, Scope, Step, StepKind, history, newest_step
from devlint.explain.places import operand_text, place_text
from devlint.explain.suggestions import LONGEST
from devlint.interpreter.state.events import DtypeConflict, Operand

DEFAULTS = (DtypeSource.NUMPY, DtypeSource.PYTHON)
"""Where a float64 comes from that nobody asked for."""


def dtype_steps(*dtypes: Dtype) -> tuple[Step, ...]:
    """The stories of some dtypes, each from its oldest step, no place told twice."""
    told: dict[Place, Step] = {}
    for dtype in dtypes:
        for step in reversed(list(history(dtype.provenance))):
            told.setdefault(step.place, step)
    return tuple(told.values())


def dtype_text(operand: Operand) -> str:
    """An operand with its dtype: "`x`, which is float64"."""
    verb = "are" if operand.of_module is not None else "is"
    return f"{operand_text(operand)}, which {verb} {operand.tensor.dtype}"


def is_implicit(dtype: Dtype) -> bool:
    """Whether it is what it is only because NumPy, pandas or Python floats are."""
    return dtype.source in DEFAULTS or newest_step(dtype.provenance, StepKind.CONVERTED) is not None


def implicit_float64(event: DtypeConflict) -> tuple[Operand, Operand] | None:
    """The side that is float64 only because NumPy, pandas or Python floats are, and the narrower side it meets."""
    for wide, narrow in ((event.left, event.right), (event.right, event.left)):
        dtype = wide.tensor.dtype
        if dtype.name == "float64" and is_implicit(dtype) and is_floating(narrow.tensor.dtype.name):
            return wide, narrow
    return None


def conversion_step(dtype: Dtype) -> Step | None:
    """The step by which a dtype came into torch."""
    return newest_step(dtype.provenance, StepKind.CONVERTED)


def is_decided_within(scope: Scope | None, dtype: Dtype) -> bool:
    """Whether a dtype has its whole story in one function: whatever calls that, it is none but this."""
    return all(step.scope is scope for step in history(dtype.provenance))


def conversion_with_dtype(step: Step, dtype: str) -> str:
    """How to write that step so that the tensor has another dtype."""
    match step.place.node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="tensor" | "as_tensor" | "asarray")) as callee):
            called = place_text(replace(step.place, node=callee))
            return f"give it the dtype: `{called}(..., dtype=torch.{dtype})`"
    return f"cast it at once: `{place_text(step.place, LONGEST)}.to(torch.{dtype})`"
