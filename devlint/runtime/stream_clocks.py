"""Order on the emulated device: streams with clocks, and copies that nobody has waited for yet."""

from __future__ import annotations

import threading

import torch

from devlint.runtime.call_sites import Site
from devlint.runtime.storage_labels import StorageWatch, label_of

POISON_INTEGER = 0


class PendingCopy(StorageWatch):
    """A copy under way: where its bytes go or come from, and the point on its stream at which it is done."""

    __slots__ = ("buffer", "reported", "sequence", "site", "snapshot", "stream", "to_host")

    def __init__(
        self, buffer: torch.Tensor, snapshot: torch.Tensor, to_host: bool, stream: StreamClock, site: Site | None
    ) -> None:
        self.buffer = buffer.detach()
        self.snapshot = snapshot
        self.to_host = to_host
        self.stream = stream.identity
        self.sequence = stream.advance()
        self.site = site
        self.reported = False


class StreamClock:
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


class StreamState:
    """All timelines of a session, the current one of each thread and device, and the copies still under way."""

    def __init__(self) -> None:
        self._next = 0
        self._default: dict[torch.device, StreamClock] = {}
        self._local = threading.local()
        self.pending_copies: list[PendingCopy] = []
        self.launched_operators = 0
        self.launched_before_wait = 0

    def create(self, device: torch.device) -> StreamClock:
        """A new stream."""
        self._next += 1
        return StreamClock(self._next, device)

    def default(self, device: torch.device) -> StreamClock:
        """The default stream of a device."""
        known = self._default.get(device)
        if known is None:
            known = self._default[device] = self.create(device)
        return known

    def current(self, device: torch.device) -> StreamClock:
        """The stream that this thread enqueues on."""
        chosen: dict[torch.device, StreamClock] = getattr(self._local, "chosen", {})
        return chosen.get(device) or self.default(device)

    def set_current(self, stream: StreamClock) -> None:
        """Make a stream current in this thread."""
        if not hasattr(self._local, "chosen"):
            self._local.chosen = {}
        self._local.chosen[stream.device] = stream

    def add_pending(self, pending: PendingCopy, storage_owner: torch.Tensor) -> None:
        """A copy has started and nobody has waited for it."""
        label = label_of(storage_owner)
        if label is not None:
            label.watch = pending
        self.pending_copies.append(pending)

    def complete(self, clock: dict[int, int] | None = None) -> list[PendingCopy]:
        """The host has waited (for everything, or for what `clock` has seen): return the copies that are now done."""
        if not self.pending_copies:
            return []
        done = [t for t in self.pending_copies if clock is None or t.sequence <= clock.get(t.stream, -1)]
        self.pending_copies = [t for t in self.pending_copies if t not in done]
        for pending in done:
            label = label_of(pending.buffer)
            if label is not None and label.watch is pending:
                label.watch = None
        return done


def poison(target: torch.Tensor) -> None:
    """Fill memory that no copy has reached yet: NaN, or zero where there is none."""
    if target.dtype.is_floating_point or target.dtype.is_complex:
        target.fill_(float("nan"))
    else:
        target.fill_(POISON_INTEGER)
