"""Clocks: what the accelerator still had to do when they were read."""

from __future__ import annotations

from devlint.flow.path.arguments import Invocation
from devlint.flow.path.models import model
from devlint.flow.path.run import Run
from devlint.values.clock import ClockRead
from devlint.values.value import Number, Value


@model(
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.perf_counter_ns",
    "time.time_ns",
    "timeit.default_timer",
    "time.process_time",
)
def clock(run: Run, call: Invocation) -> Value:
    """A clock read remembers what the accelerator still had to do."""
    ambient = run.state.ambient
    run.engine.repeats.mark_moment()
    return Number("float", ClockRead(run.place(call.node), ambient.launches, ambient.unsynchronized))
