"""Models of functions that run a function of the program in other processes."""

from __future__ import annotations

from devlint.domain.value import NONE, Number, Value
from devlint.interpreter.state.arguments import Argument, Arguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn")
def spawn(frame: Frame, call: LibraryCall) -> Value:
    """Model `mp.spawn(function, args)`: run the function on a rank and the arguments, in a process of its own.

    What the function does to objects and names is not seen by the process that starts it.
    """
    function, given = call.arguments.get("fn", 0), call.arguments.get("args", 1)
    items = frame.iterate(given.value, given.node).items if given is not None else ()
    if function is None or items is None:
        return NONE
    passed = [Argument(value, call.arguments.expression) for value in (Number("int"), *items)]

    def run_in_process() -> None:
        frame.call(function.value, Arguments(call.node, passed), call.node)

    frame.branch(run_in_process)
    return NONE
