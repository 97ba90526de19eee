"""asyncio: what is awaited is run at once, so its result is already there."""

from __future__ import annotations

from devlint.domain.objects import Sequence
from devlint.domain.value import UNKNOWN, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call("asyncio.run", "asyncio.create_task", "asyncio.ensure_future", "asyncio.shield", "asyncio.wait_for")
def awaited(frame: Frame, call: LibraryCall) -> Value:
    """The result of one coroutine."""
    return call.first.value if call.first is not None else UNKNOWN


@models_call("asyncio.gather")
def gathered(frame: Frame, call: LibraryCall) -> Value:
    """The results of several, in order."""
    if not call.arguments.complete:
        return UNKNOWN
    return frame.allocate(call.node, Sequence(tuple(one.value for one in call.arguments.positional)))
