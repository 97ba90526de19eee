"""Attention: which of the weights a call is given take part."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.value import NONE, Const, Value
from devlint.interpreter.library.table_calls import by_table
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

PACKED: Final = 5
"""Where the weights of all three projections stand, packed in one tensor."""
SEPARATE: Final = 17
"""Where the call is told that the weights are given one by one."""


@models_call("torch.nn.functional.multi_head_attention_forward")
def multi_head_attention_forward(frame: Frame, call: LibraryCall) -> Value:
    """With separate weights the packed ones are not looked at: people hand over an empty tensor."""
    arguments = call.arguments
    packed = arguments.get("in_proj_weight", PACKED)
    if arguments.value("use_separate_proj_weight", SEPARATE) in (None, Const(False)) or packed is None:
        return by_table(frame, call)
    positional = [replace(one, value=NONE) if one is packed else one for one in arguments.positional]
    keywords = {key: replace(one, value=NONE) if one is packed else one for key, one in arguments.keywords.items()}
    return by_table(frame, replace(call, arguments=replace(arguments, positional=positional, keywords=keywords)))
