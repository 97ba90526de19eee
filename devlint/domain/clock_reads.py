"""The abstract value of a clock read, such as `time.time()`, used to check what a program's timings measure."""

from __future__ import annotations

from dataclasses import field

from devlint.domain.placement import Place, Step
from devlint.domain.record import record


@record(frozen=True, slots=True)
class ClockRead:
    """One read of a clock, such as `time.time()`, with the state of the accelerator's work at that moment.

    `place` is the source location of the call that reads the clock. `launches` is the number of accelerator operations
    launched so far. `unsynchronized` is the number and the step of the newest accelerator operation that the host had
    not waited for; None where there was none. `by_constructor` is true for a clock that a constructor reads.
    """

    place: Place
    launches: int = field(compare=False)
    unsynchronized: tuple[int, Step] | None = field(compare=False)
    by_constructor: bool = field(compare=False, default=False)
