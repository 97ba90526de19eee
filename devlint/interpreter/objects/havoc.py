"""Havoc: what code unknown to devlint may do to its arguments and to the unfinished work of the accelerator."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.value import Ref, Unknown
from devlint.interpreter.objects.module_state import is_module, move_registered_tensors
from devlint.interpreter.objects.unknown_objects import unknown_object_site, unknown_object_state
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.frame import Frame


def havoc(frame: Frame, arguments: Arguments) -> None:
    """Make the placements of modules and unknown objects unknown after unknown code has received them as arguments."""
    for argument in arguments:
        value = argument.value
        if isinstance(value, Ref) and is_module(frame, value):
            move_registered_tensors(frame, value, lambda placement, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))
        elif isinstance(value, Unknown) and value.origin is not None:
            record = unknown_object_state(frame, value)
            if record is not None and record.cell is not None:
                frame.put(unknown_object_site(value), replace(record, cell=None))


def assume_synchronized(frame: Frame) -> None:
    """Assume that unknown code has waited for the accelerator, so that no earlier work counts as unfinished."""
    torch_state = frame.state.torch_state
    frame.state.torch_state = replace(torch_state, epoch=torch_state.epoch + 1, unsynchronized=None, last_wait=None)
