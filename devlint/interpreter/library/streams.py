"""Waiting for the accelerator: synchronisation, streams and events."""

from __future__ import annotations

from devlint.domain.placement import Kind
from devlint.domain.value import NONE, UNKNOWN, Value
from devlint.interpreter.objects.havoc import wait
from devlint.interpreter.state.arguments import Invocation
from devlint.interpreter.state.events import Synchronize
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model(
    "torch.cuda.synchronize",
    "torch.accelerator.synchronize",
    "torch.mps.synchronize",
    "torch.xpu.synchronize",
    "torch.cuda.Event.synchronize",
    "torch.cuda.Stream.synchronize",
    "torch.Event.synchronize",
)
def synchronize(run: Run, call: Invocation) -> Value:
    """The host waits for the accelerator."""
    ambient = run.state.ambient
    run.engine.repeats.mark_moment()
    run.emit(Synchronize(run.context_at(call.node), ambient.waited if ambient.unsynchronized is None else None))
    run.synchronize(run.step(Kind.PASSED, "waits for the accelerator", call.node))
    return NONE


@model(
    "torch.cuda.Event.query",
    "torch.cuda.Event.elapsed_time",
    "torch.cuda.Event.record",
    "torch.cuda.Event.wait",
    "torch.cuda.Stream.wait_event",
    "torch.cuda.Stream.wait_stream",
    "torch.cuda.Stream.record_event",
)
def event_method(run: Run, call: Invocation) -> Value:
    """Events and streams: who waits on them is not followed further than `synchronize`."""
    if call.name != "record":
        wait(run)
    return UNKNOWN
