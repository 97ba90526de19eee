"""Models of `asyncio`: devlint runs a coroutine where it is called, so the result of `await x` is `x` itself."""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.value import UNKNOWN, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("asyncio.run", "asyncio.create_task", "asyncio.ensure_future", "asyncio.shield", "asyncio.wait_for")
def coroutine_result(frame: Frame, call: LibraryCall) -> Value:
    """Model `asyncio.run(f())` and the functions that make a task of one coroutine: the coroutine's result."""
    return call.first.value if call.first is not None else UNKNOWN


@models_call("asyncio.gather")
def gather(frame: Frame, call: LibraryCall) -> Value:
    """Model `asyncio.gather(f(), g())`: a list of the coroutines' results, in order."""
    if not call.arguments.complete:
        return UNKNOWN
    return frame.allocate(call.node, Sequence(tuple(one.value for one in call.arguments.positional)))
