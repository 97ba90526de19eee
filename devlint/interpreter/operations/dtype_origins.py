"""Where the dtype of a new tensor comes from: the step that findings about dtypes tell first."""

from __future__ import annotations

from collections.abc import Container

import libcst as cst

from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.placement import StepKind
from devlint.domain.record import replace
from devlint.interpreter.state.frame import Frame


def dtype_with_origin(
    frame: Frame, dtype: Dtype, function: str, node: cst.CSTNode, given: Container[str] = ()
) -> Dtype:
    """Return the dtype of what a function returns, with the step that made it where nothing else tells its origin.

    `given` are the names of the arguments of the call, of which `dtype` is one or not.
    """
    told = dtype.made is not None or dtype.provenance is not None
    if dtype.name is None or (told and "dtype" not in given):
        return dtype
    if "dtype" in given:
        reason = ", as its `dtype=` says"
    else:
        default = dtype.source is DtypeSource.DEFAULT and dtype == frame.state.torch_state.default_dtype
        reason = ", torch's default" if default else ""
    return replace(dtype, made=frame.step(StepKind.CREATED, f"made in {dtype.name} by `{function}`{reason}", node))
