"""The abstract value of a clock read, such as `time.time()`, and the work that may run at it, for checks of timings."""

from __future__ import annotations

from dataclasses import field

from devlint.domain.placement import Place, Step
from devlint.domain.record import record


@record(frozen=True, slots=True)
class RunningWork:
    """Accelerator work that the host has not waited for.

    `number` is that of the newest operation, counted from the start of the program, and `step` says where it was
    launched. `heavy` is false where all of the work is elementwise operations, reductions and views, which take a
    moment.
    """

    number: int
    step: Step
    heavy: bool


@record(frozen=True, slots=True)
class ClockRead:
    """One read of a clock, such as `time.time()`, with the state of the accelerator's work at that moment.

    `place` is the source location of the call that reads the clock. `launches` is the number of accelerator operations
    launched so far, `epoch` that of the host's waits for them. `unsynchronized` is the work that the host had not
    waited for; None where there was none. `by_constructor` is true for a clock that a constructor reads.
    """

    place: Place
    launches: int = field(compare=False)
    epoch: int = field(compare=False)
    unsynchronized: RunningWork | None = field(compare=False)
    by_constructor: bool = field(compare=False, default=False)
