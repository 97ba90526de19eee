"""The record of a generator that is suspended at its `yield`, as a context manager is while its `with` block runs."""

from __future__ import annotations

from collections.abc import Mapping

from devlint.domain.objects import HeapObject
from devlint.domain.record import record
from devlint.domain.value import AllocationSite
from devlint.interpreter.state.events import UnsynchronizedTiming

TorchStateChanges = Mapping[str, object]
"""The settings of torch that a context manager changes, by field name of `TorchState`."""


@record(frozen=True, slots=True)
class SuspendedGenerator:
    """A generator suspended at its `yield`, such as a context manager while its `with` block runs.

    `changes` are the settings of torch that it has changed before the `yield`. `effects` are the heap objects that it
    changes after the `yield`: each one's state at the `yield` and at the end. `block_timings` are the timings that it
    takes of the block's work; `waits` is true when it waits for that work; `launches` is the number of accelerator
    operations launched when the block begins.
    """

    changes: TorchStateChanges
    effects: Mapping[AllocationSite, tuple[HeapObject, HeapObject]]
    block_timings: tuple[UnsynchronizedTiming, ...] = ()
    waits: bool = False
    launches: int = 0
