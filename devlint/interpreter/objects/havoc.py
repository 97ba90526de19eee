"""Havoc: what code unknown to devlint may do to its arguments and to the unfinished work of the accelerator."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.objects import Dict, Sequence
from devlint.domain.placement import UNKNOWN_PLACEMENT
from devlint.domain.value import UNKNOWN, ProgramDefinition, Ref, Unknown
from devlint.interpreter.objects.module_state import is_module, move_registered_tensors
from devlint.interpreter.objects.unknown_objects import unknown_object_site, unknown_object_state
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import join_states
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame


def havoc(frame: Frame, arguments: Arguments) -> None:
    """Make the placements of modules and unknown objects unknown after unknown code has received them as arguments.

    The code may also have called the functions among its arguments.
    """
    for argument in arguments:
        value = argument.value
        if isinstance(value, Ref) and is_module(frame, value):
            move_registered_tensors(frame, value, lambda placement, dtype: (UNKNOWN_PLACEMENT, UNKNOWN_DTYPE))
        elif isinstance(value, Unknown) and value.origin is not None:
            record = unknown_object_state(frame, value)
            if record is not None and record.cell is not None:
                frame.put(unknown_object_site(value), replace(record, cell=None))
    may_call_back(frame, arguments)


def may_call_back(frame: Frame, arguments: Arguments) -> None:
    """Apply what the functions among some arguments change in the code around their definition, if they are called.

    Only nested functions and lambdas that capture a list or dict, or bind names of the enclosing function, are run.
    """
    for argument in arguments:
        match argument.value:
            case ProgramDefinition(definition=FunctionInfo() as info) if _changes_captured_values(frame, info):
                _run_perhaps(frame, argument)


def _changes_captured_values(frame: Frame, info: FunctionInfo) -> bool:
    """Return whether a function may change a list, a dict or a name of the function in which it is defined."""
    if not isinstance(info.closure, Frame):
        return False
    captured = info.mentioned_names - info.locals
    names = info.closure.state.names
    return not captured.isdisjoint(info.bound_names) or any(
        isinstance(names.get(name), Ref) and isinstance(frame.object_of(names[name]), (Sequence, Dict))
        for name in captured
    )


def _run_perhaps(frame: Frame, function: Argument) -> None:
    """Call a function with unknown arguments, and join the state afterwards with the state before the call."""

    def run() -> None:
        frame.call(
            function.value,
            Arguments(function.node, complete=False, rest=Argument(UNKNOWN, function.node)),
            function.node,
        )

    (end,) = frame.branch(run)
    if end.live:
        frame.state = join_states(frame.state, end)


def assume_synchronized(frame: Frame) -> None:
    """Assume that unknown code has waited for the accelerator, so that no earlier work counts as unfinished."""
    torch_state = frame.state.torch_state
    frame.state.torch_state = replace(torch_state, epoch=torch_state.epoch + 1, unsynchronized=None, last_wait=None)
