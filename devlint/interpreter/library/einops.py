"""Models of the functions of einops that give back what they take: a tensor for a tensor, an array for an array."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.value import UNKNOWN, Array, Rank, Unknown, Value
from devlint.interpreter.library.table_calls import call_by_table
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("einops.rearrange", "einops.repeat", "einops.reduce")
def rearrange(frame: Frame, call: LibraryCall) -> Value:
    """Model `rearrange(x, pattern)`, `repeat` and `reduce`: their rows describe what they do to a tensor."""
    match call.arguments.value("tensor", 0):
        case Array() as array:
            return replace(array, fresh=None, memory=None, rank=Rank.ANY)
        case Unknown(origin=None) | None:
            return UNKNOWN
    return call_by_table(frame, call)
