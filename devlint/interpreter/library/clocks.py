"""Clocks: what the accelerator still had to do when they were read."""

from __future__ import annotations

from devlint.domain.clock_reads import ClockRead
from devlint.domain.value import Number, Value
from devlint.interpreter.state.arguments import LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call


@models_call(
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.perf_counter_ns",
    "time.time_ns",
    "timeit.default_timer",
    "time.process_time",
)
def clock(frame: Frame, call: LibraryCall) -> Value:
    """A clock read remembers what the accelerator still had to do."""
    torch_state = frame.state.torch_state
    frame.analysis.call_summaries.invalidate()
    return Number("float", ClockRead(frame.place(call.node), torch_state.launches, torch_state.unsynchronized))
