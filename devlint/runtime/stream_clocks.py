"""Streams of the emulated devices as vector clocks, and the non-blocking copies that nothing has waited for yet."""

from __future__ import annotations

import threading

import torch

from devlint.runtime.call_sites import Site
from devlint.runtime.storage_labels import StorageWatch, label_of

POISON_INTEGER = 0
"""The value of integers that a pending copy has not delivered yet."""


class PendingCopy(StorageWatch):
    """A non-blocking copy between host and device that nothing has waited for, with its sequence number on its stream.

    `buffer` is the host tensor that the copy writes or reads, and `snapshot` holds the values that are copied.
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
    """The vector clock of a stream: the number of its operations, and of those on other streams that it waits for."""

    def __init__(self, identity: int, device: torch.device) -> None:
        self.identity = identity
        self.device = device
        self.clock: dict[int, int] = {identity: 0}

    def advance(self) -> int:
        """Count one more operation on the stream, and return its sequence number."""
        self.clock[self.identity] += 1
        return self.clock[self.identity]

    def wait(self, clock: dict[int, int]) -> None:
        """Make the operations enqueued on this stream from now on wait for those that another vector clock counts."""
        for identity, sequence in clock.items():
            if self.clock.get(identity, -1) < sequence:
                self.clock[identity] = sequence


class StreamState:
    """The streams of a session, the current stream of each thread and device, and the pending non-blocking copies.

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
        """Return a new stream of a device."""
        self._next += 1
        return StreamClock(self._next, device)

    def default(self, device: torch.device) -> StreamClock:
        """Return the default stream of a device."""
        known = self._default.get(device)
        if known is None:
            known = self._default[device] = self.create(device)
        return known

    def current(self, device: torch.device) -> StreamClock:
        """Return the stream on which this thread enqueues work for a device."""
        chosen: dict[torch.device, StreamClock] = getattr(self._local, "chosen", {})
        return chosen.get(device) or self.default(device)

    def set_current(self, stream: StreamClock) -> None:
        """Make a stream the current stream of this thread on the stream's device."""
        if not hasattr(self._local, "chosen"):
            self._local.chosen = {}
        self._local.chosen[stream.device] = stream

    def add_pending(self, pending: PendingCopy, storage_owner: torch.Tensor) -> None:
        """Register a non-blocking copy that has started and that nothing has waited for.

        The storage of `storage_owner` is watched until the copy is completed.
        """
        label = label_of(storage_owner)
        if label is not None:
            label.watch = pending
        self.pending_copies.append(pending)

    def complete(self, clock: dict[int, int] | None = None) -> list[PendingCopy]:
        """Remove the pending copies that the host has waited for, and return them.

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
    """Fill the target of a pending copy to the host with NaN, or with zeros if its dtype has no NaN.

    This is what a program reads there that does not wait for the copy.
    """
    if target.dtype.is_floating_point or target.dtype.is_complex:
        target.fill_(float("nan"))
    else:
        target.fill_(POISON_INTEGER)
