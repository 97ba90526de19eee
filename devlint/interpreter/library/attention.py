"""Model of `multi_head_attention_forward`: which of the weights passed to the call must be on the inputs' device."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.value import NONE, Const, Value
from devlint.interpreter.library.table_calls import call_by_table
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

PACKED: Final = 5
"""The position of `in_proj_weight`, which packs the weights of all three projections into one tensor."""
SEPARATE: Final = 17
"""The position of `use_separate_proj_weight`, which says that each projection has a weight of its own."""


@models_call("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(frame: Frame, call: LibraryCall) -> Value:
    """Model `F.multi_head_attention_forward`: ignore `in_proj_weight` where the call has separate weights.

    Callers with separate weights pass an empty tensor as `in_proj_weight`.
    """
    arguments = call.arguments
    packed = arguments.get("in_proj_weight", PACKED)
    if arguments.value("use_separate_proj_weight", SEPARATE) in (None, Const(False)) or packed is None:
        return call_by_table(frame, call)
    positional = [replace(one, value=NONE) if one is packed else one for one in arguments.positional]
    keywords = {key: replace(one, value=NONE) if one is packed else one for key, one in arguments.keywords.items()}
    return call_by_table(frame, replace(call, arguments=replace(arguments, positional=positional, keywords=keywords)))
