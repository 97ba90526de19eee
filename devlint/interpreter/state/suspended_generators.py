"""A generator at its `yield`, and what it does when it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from devlint.domain.objects import HeapObject
from devlint.domain.value import AllocationSite
from devlint.interpreter.state.events import UnsynchronizedTiming

TorchStateChanges = Mapping[str, object]
"""The settings of the surroundings that a context changes, by their names in `Ambient`."""


@dataclass(frozen=True, slots=True)
class SuspendedGenerator:
    """A generator at its `yield`: the surroundings it has changed, the objects that are different at its end, and what
    it then does about the block's work: takes the time of it, or waits for it."""

    changes: TorchStateChanges
    effects: Mapping[AllocationSite, tuple[HeapObject, HeapObject]]
    block_timings: tuple[UnsynchronizedTiming, ...] = ()
    waits: bool = False
    launches: int = 0
