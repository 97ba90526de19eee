"""Order on the emulated device: streams with clocks, and copies that nobody has waited for yet."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import torch

from devlint.runtime.storage_labels import cell_of

if TYPE_CHECKING:
    from devlint.runtime.call_sites import Site

POISON_INTEGER = 0


class Transit:
    """A copy under way: where its bytes go or come from, and the point on its stream at which it is done."""

    __slots__ = ("buffer", "inbound", "reported", "sequence", "site", "snapshot", "stream")

    def __init__(
        self, buffer: torch.Tensor, snapshot: torch.Tensor, inbound: bool, stream: Timeline, site: Site | None
    ) -> None:
        self.buffer = buffer.detach()
        self.snapshot = snapshot
        self.inbound = inbound
        self.stream = stream.identity
        self.sequence = stream.advance()
        self.site = site
        self.reported = False


class Timeline:
    """A stream: how far it has come, and what it waits for on the others (a vector clock)."""

    def __init__(self, identity: int, device: torch.device) -> None:
        self.identity = identity
        self.device = device
        self.clock: dict[int, int] = {identity: 0}

    def advance(self) -> int:
        """Enqueue one more operation."""
        self.clock[self.identity] += 1
        return self.clock[self.identity]

    def wait(self, clock: dict[int, int]) -> None:
        """Everything enqueued from now on comes after what `clock` has seen."""
        for identity, sequence in clock.items():
            if self.clock.get(identity, -1) < sequence:
                self.clock[identity] = sequence


class Streams:
    """All timelines of a session, the current one of each thread and device, and the copies still under way."""

    def __init__(self) -> None:
        self._next = 0
        self._default: dict[torch.device, Timeline] = {}
        self._local = threading.local()
        self.transits: list[Transit] = []
        self.launched = 0
        self.waited = 0

    def create(self, device: torch.device) -> Timeline:
        """A new stream."""
        self._next += 1
        return Timeline(self._next, device)

    def default(self, device: torch.device) -> Timeline:
        """The default stream of a device."""
        known = self._default.get(device)
        if known is None:
            known = self._default[device] = self.create(device)
        return known

    def current(self, device: torch.device) -> Timeline:
        """The stream that this thread enqueues on."""
        chosen: dict[torch.device, Timeline] = getattr(self._local, "chosen", {})
        return chosen.get(device) or self.default(device)

    def choose(self, timeline: Timeline) -> None:
        """Make a stream current in this thread."""
        if not hasattr(self._local, "chosen"):
            self._local.chosen = {}
        self._local.chosen[timeline.device] = timeline

    def begin(self, transit: Transit, storage_owner: torch.Tensor) -> None:
        """A copy has started and nobody has waited for it."""
        cell = cell_of(storage_owner)
        if cell is not None:
            cell.watch = transit
        self.transits.append(transit)

    def arrive(self, clock: dict[int, int] | None = None) -> list[Transit]:
        """The host has waited (for everything, or for what `clock` has seen): return the copies that are now done."""
        if not self.transits:
            return []
        done = [t for t in self.transits if clock is None or t.sequence <= clock.get(t.stream, -1)]
        self.transits = [t for t in self.transits if t not in done]
        for transit in done:
            cell = cell_of(transit.buffer)
            if cell is not None and cell.watch is transit:
                cell.watch = None
        return done


def poison(target: torch.Tensor) -> None:
    """Fill memory that no copy has reached yet: NaN, or zero where there is none."""
    if target.dtype.is_floating_point or target.dtype.is_complex:
        target.fill_(float("nan"))
    else:
        target.fill_(POISON_INTEGER)
