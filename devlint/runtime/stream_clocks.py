"""Streams of the emulated device as vector clocks, and the copies that nothing has waited for yet."""

from __future__ import annotations

import threading

import torch

from devlint.runtime.call_sites import Site
from devlint.runtime.storage_labels import StorageWatch, label_of

POISON_INTEGER = 0
"""The value of integers that a pending copy has not delivered yet."""


class PendingCopy(StorageWatch):
    """A non-blocking copy that nothing has waited for, with the point on its stream at which it is done.

    `buffer` is the host tensor that is written or read, and `snapshot` holds the right values.
    """

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
    """The vector clock of a stream: how far it has come, and what it has waited for on other streams."""

    def __init__(self, identity: int, device: torch.device) -> None:
        self.identity = identity
        self.device = device
        self.clock: dict[int, int] = {identity: 0}

    def advance(self) -> int:
        """Enqueue one more operation on the stream, and return its sequence number."""
        self.clock[self.identity] += 1
        return self.clock[self.identity]

    def wait(self, clock: dict[int, int]) -> None:
        """Order everything that is enqueued from now on after what `clock` has seen."""
        for identity, sequence in clock.items():
            if self.clock.get(identity, -1) < sequence:
                self.clock[identity] = sequence


class StreamState:
    """The streams of a session, the current stream of each thread and device, and the pending copies.

    `launched_operators` counts operators on the device, and `launched_before_wait` those before the host's last wait.
    """

    def __init__(self) -> None:
        self._next = 0
        self._default: dict[torch.device, StreamClock] = {}
        self._local = threading.local()
        self.pending_copies: list[PendingCopy] = []
        self.launched_operators = 0
        self.launched_before_wait = 0

    def create(self, device: torch.device) -> StreamClock:
        """Return a new stream."""
        self._next += 1
        return StreamClock(self._next, device)

    def default(self, device: torch.device) -> StreamClock:
        """Return the default stream of a device."""
        known = self._default.get(device)
        if known is None:
            known = self._default[device] = self.create(device)
        return known

    def current(self, device: torch.device) -> StreamClock:
        """Return the stream that this thread enqueues on."""
        chosen: dict[torch.device, StreamClock] = getattr(self._local, "chosen", {})
        return chosen.get(device) or self.default(device)

    def set_current(self, stream: StreamClock) -> None:
        """Make a stream the current one of this thread."""
        if not hasattr(self._local, "chosen"):
            self._local.chosen = {}
        self._local.chosen[stream.device] = stream

    def add_pending(self, pending: PendingCopy, storage_owner: torch.Tensor) -> None:
        """Register a copy that has started and that nothing has waited for."""
        label = label_of(storage_owner)
        if label is not None:
            label.watch = pending
        self.pending_copies.append(pending)

    def complete(self, clock: dict[int, int] | None = None) -> list[PendingCopy]:
        """Remove and return the pending copies that the host has waited for.

        `clock` is the vector clock of what was waited for; None means everything.
        """
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
    """Fill memory that a pending copy has not reached with NaN, or with zero where the dtype has no NaN."""
    if target.dtype.is_floating_point or target.dtype.is_complex:
        target.fill_(float("nan"))
    else:
        target.fill_(POISON_INTEGER)
