"""The abstract value of a clock read, such as `time.time()`, and the work that may run at it, for checks of timings."""

from __future__ import annotations

from dataclasses import field

from devlint.domain.placement import Place, Scope, Step
from devlint.domain.record import record


@record(frozen=True, slots=True)
class Launch:
    """One operation that was launched on the accelerator: its number, counted from the start, and its place."""

    number: int
    step: Step


@record(frozen=True, slots=True)
class RunningWork:
    """Accelerator work that the host has not waited for: the newest operation, and the newest heavy one.

    Elementwise operations, reductions, copies and views take a moment and are not heavy. `heavy` is None where all of
    the work is such operations.
    """

    newest: Launch
    heavy: Launch | None

    @property
    def main(self) -> Launch:
        """The operation that takes most of the time: the newest heavy one, else the newest one."""
        return self.heavy or self.newest

    def after(self, number: int) -> RunningWork | None:
        """Return the part of the work that was launched after the operation with a number; None if there is none."""
        if self.newest.number <= number:
            return None
        return self if self.heavy is None or self.heavy.number > number else RunningWork(self.newest, None)


@record(frozen=True, slots=True)
class ClockRead:
    """One read of a clock, such as `time.time()`, with the state of the accelerator's work at that moment.

    `place` is the source location of the call that reads the clock. `launches` is the number of accelerator operations
    launched so far, `epoch` that of the host's waits for them. `unsynchronized` is the work that the host had not
    waited for; None where there was none. `by_constructor` is true for a clock that a constructor reads. `scope` is the
    run of the code that reads the clock.
    """

    place: Place
    launches: int = field(compare=False)
    epoch: int = field(compare=False)
    unsynchronized: RunningWork | None = field(compare=False)
    by_constructor: bool = field(compare=False, default=False)
    scope: Scope | None = field(compare=False, default=None)
