"""A clock read, as far as it says what the accelerator was doing."""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.domain.placement import Place, Step


@dataclass(frozen=True, slots=True)
class ClockRead:
    """One read of a clock: how much work had been launched, and the newest of it that nothing had waited for."""

    place: Place
    launches: int = field(compare=False)
    unsynchronized: tuple[int, Step] | None = field(compare=False)
