"""Models of the functions of `torch.nn.utils.rnn` that unpack padded sequences."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.device import CPU
from devlint.domain.placement import PlacementCase, StepKind
from devlint.domain.value import Tensor, Tuple, Value
from devlint.interpreter.library.table_calls import call_by_table
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.nn.utils.rnn.pad_packed_sequence")
def pad_packed_sequence(frame: Frame, call: LibraryCall) -> Value:
    """Model `pad_packed_sequence(packed)`: the padded tensor, and the lengths, which are made on the host."""
    result = call_by_table(frame, call)
    match result:
        case Tuple(items=(padded, Tensor() as lengths)):
            step = frame.step(StepKind.CREATED, "made on the host by `pad_packed_sequence`", call.node)
            return replace(result, items=(padded, replace(lengths, placement=PlacementCase(CPU, provenance=step))))
    return result
