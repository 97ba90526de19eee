"""The abstract value of a clock read, used to check what a program's timings measure."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.domain.placement import Place, Step


@dataclass(frozen=True, slots=True)
class ClockRead:
    """One read of a clock, such as `time.time()`, with the state of the accelerator's work at that moment.

    `place` is the call. `launches` is the number of accelerator operations launched so far; `unsynchronized` is the
    newest operation that the host had not waited for, with its number, or None.
    """

    place: Place
    launches: int = field(compare=False)
    unsynchronized: tuple[int, Step] | None = field(compare=False)
