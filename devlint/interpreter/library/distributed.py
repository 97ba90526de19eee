"""Models of programs of several processes: the rank of a process, and the function that each process runs."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import NONE, UNKNOWN, Number, Value
from devlint.interpreter.state.abstract_state import INITIAL_TORCH_STATE
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

RANK: Final = Number("int", ("rank",), "the rank of the process")
"""The number of the running process among those of the program; the same one at every call."""


@models_call("torch.distributed.get_rank", "torch.distributed.get_world_size", "torch.distributed.get_node_local_rank")
def process_number(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.distributed.get_rank()` and the like: an unknown integer, the same one at every call.

    The numbers of a process group that the program names are not told apart, and have no identity.
    """
    if call.arguments.positional or call.arguments.keywords or not call.arguments.complete:
        return Number("int")
    return RANK if call.name == "torch.distributed.get_rank" else Number("int", (call.name,), f"{call.name}()")


@models_call(
    "torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn", "torch.multiprocessing.start_processes"
)
def spawn(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.multiprocessing.spawn(f, args)`: run `f(rank, *args)` as a process of its own.

    What the process changes is not seen after the call.
    """
    function, given = call.arguments.get("fn", 0), call.arguments.get("args", 1)
    passed = frame.iterate(given.value, given.node) if given is not None else None
    if function is None or (passed is not None and passed.items is None):
        return UNKNOWN
    values = [RANK, *(passed.items or () if passed is not None else ())]
    place = given.node if given is not None else function.node
    arguments = Arguments(call.node, [Argument(value, place) for value in values])

    def run() -> None:
        frame.state.torch_state = INITIAL_TORCH_STATE
        frame.call(function.value, arguments, call.node)

    frame.branch(run)
    return NONE if call.arguments.constant("join", 3, default=True) is True else UNKNOWN
