"""The history of arrays that NumPy computes: what came from an accelerator and could have been computed there."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.placement import Step, StepKind, newest_step
from devlint.domain.value import Array, Value
from devlint.interpreter.operations.tensor_transfers import is_only_use
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.frame import Frame

ALSO_IN_TORCH: Final = frozenset(
    "abs add all amax amin any arccos arcsin arctan arctan2 argmax argmin argsort around ceil clip cos cosh cumprod"
    " cumsum diff divide equal exp expm1 fabs flip floor floor_divide greater greater_equal isfinite isinf isnan less"
    " less_equal log log10 log1p log2 logical_and logical_not logical_or max maximum mean min minimum mod multiply"
    " nan_to_num negative not_equal power prod ptp reciprocal remainder rint roll round sign sin sinh sort sqrt square"
    " subtract sum tan tanh tril triu true_divide trunc".split()
)
"""The NumPy functions and methods of arrays that torch has too, with the same result, for tensors on any device.

`median` is none of them: torch returns the lower of two middle values.
"""


def history_of_operand(frame: Frame, operand: Value | None, node: cst.BaseExpression, use: cst.CSTNode) -> Step | None:
    """Return the step before an operation that NumPy applies to an array, where torch could do the same: its history.

    None for an array that came from a transfer and that other code reads as well, because the host needs it then.
    """
    if not isinstance(operand, Array) or operand.provenance is None:
        return None
    if newest_step(operand.provenance, StepKind.MOVED) is not None and not is_only_use(frame, node, use):
        return None
    return operand.provenance


def history_of_call(frame: Frame, call: LibraryCall, source: Argument | None) -> Step | None:
    """Return the history of the array that a NumPy call computes from; None for a call that only NumPy can make."""
    if source is None or call.name.rpartition(".")[2] not in ALSO_IN_TORCH:
        return None
    return history_of_operand(frame, source.value, source.node, call.node)
