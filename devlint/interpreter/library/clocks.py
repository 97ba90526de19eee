"""Models of clocks such as `time.time()`: the number read records which accelerator work was unfinished at the read."""

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
def read_clock(frame: Frame, call: LibraryCall) -> Value:
    """Model `time.time()` and other clocks: a number that records the launches and unfinished work at this point.

    The call summaries being recorded become invalid: replaying a call that reads a clock would ignore the state of the
    accelerator, on which the number depends.
    """
    torch_state = frame.state.torch_state
    frame.analysis.call_summaries.invalidate()
    by_constructor = frame.scope.name.rpartition(".")[2] == "__init__"
    read = ClockRead(
        frame.place(call.node),
        torch_state.launches,
        torch_state.epoch,
        torch_state.unsynchronized,
        by_constructor,
        frame.scope,
    )
    return Number("float", read)
