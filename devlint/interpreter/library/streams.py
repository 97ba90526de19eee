"""Models of functions that wait for the accelerator: synchronisation, streams and events."""

from __future__ import annotations

from devlint.domain.placement import StepKind
from devlint.domain.value import NONE, UNKNOWN, Value
from devlint.interpreter.objects.havoc import assume_synchronized
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.events import Synchronize
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(
    "torch.cuda.synchronize",
    "torch.accelerator.synchronize",
    "torch.mps.synchronize",
    "torch.xpu.synchronize",
    "torch.cuda.Event.synchronize",
    "torch.cuda.Stream.synchronize",
    "torch.Event.synchronize",
)
def synchronize(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.synchronize()` and the like: the host waits for all work of the accelerator."""
    torch_state = frame.state.torch_state
    frame.analysis.call_summaries.invalidate()
    frame.emit(
        Synchronize(
            frame.event_context(call.node), torch_state.last_wait if torch_state.unsynchronized is None else None
        )
    )
    frame.synchronize(frame.step(StepKind.PASSED, "the host waits here for the accelerator", call.node))
    return NONE


@models_call("torch.save")
def save(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.save(obj, f)`: it reads tensors, and so waits for the accelerator if they lie there."""
    assume_synchronized(frame)
    return NONE


@models_call("torch.cuda.empty_cache", "torch.accelerator.empty_cache")
def empty_cache(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.cuda.empty_cache()`: to give memory back, CUDA waits for what still runs."""
    assume_synchronized(frame)
    return NONE


@models_call(
    "torch.cuda.Event.query",
    "torch.cuda.Event.elapsed_time",
    "torch.cuda.Event.record",
    "torch.cuda.Event.wait",
    "torch.cuda.Stream.wait_event",
    "torch.cuda.Stream.wait_stream",
    "torch.cuda.Stream.record_event",
)
def event_method(frame: Frame, call: LibraryCall) -> Value:
    """Model other methods of events and streams: apart from `record`, they may wait for the accelerator.

    Which stream waits for which event is not modelled.
    """
    if call.name != "record":
        assume_synchronized(frame)
    return UNKNOWN
