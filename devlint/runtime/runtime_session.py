"""The active session of emulating or recording: the emulated devices, their streams, and the recorders."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from devlint.runtime import torch_errors
from devlint.runtime.backends import BACKENDS
from devlint.runtime.call_sites import site_of, user_frame
from devlint.runtime.dtype_limits import DtypeLimits
from devlint.runtime.recorder import Observation, Recorder, TransferKind
from devlint.runtime.session_protocol import TestRules
from devlint.runtime.storage_labels import HOST, HistoryStep
from devlint.runtime.stream_clocks import PendingCopy, StreamState
from devlint.runtime.transfer_checks import TransferChecker

if TYPE_CHECKING:
    from types import FrameType


class _ThreadState(threading.local):
    """What a session keeps for each thread; see the properties of the session of the same names."""

    current_index = 0
    suspended = False
    inside_composite = False
    checks_on_host = False
    backward_frame: FrameType | None = None


class RuntimeSession:
    """A session of emulating or recording: emulated devices of one kind with their streams, and the active recorders.

    `kind` is the device type that is emulated, or None if real devices are recorded; `backend` is what is known of it,
    or of CUDA. `own_generators` is whether a device that is seeded draws from a random generator of its own, as a real
    one does; otherwise it goes on to draw from the host's. `direct_calls` is whether small operators may pass the
    dispatch mode. `thread_state` holds what differs between threads. `test_rules` place what test code makes, under
    `pytest --devlint=move`.
    """

    def __init__(self, kind: str | None, devices: int) -> None:
        self.kind = kind
        self.backend = BACKENDS[kind or "cuda"]
        self.device_count = devices if kind else 0
        self.devices = [torch.device(kind, index) for index in range(devices)] if kind else []
        self.streams = StreamState()
        self.recorders: list[Recorder] = []
        self.initialized = False
        self.forked_after_init = False
        self.transfer_checker = TransferChecker()
        self.keep_going = False
        self.own_generators = True
        self.direct_calls = True
        self.dtype_limits = DtypeLimits(self.backend)
        self.test_rules: TestRules | None = None
        self.thread_state = _ThreadState()
        self._resolved: dict[tuple[torch.device | str | int, int], torch.device] = {}

    @property
    def current_index(self) -> int:
        """Return the index of this thread's current emulated device."""
        return self.thread_state.current_index

    @current_index.setter
    def current_index(self, value: int) -> None:
        self.thread_state.current_index = value

    @property
    def suspended(self) -> bool:
        """Return whether recording is suspended in this thread: devlint does it, or it is recorded as one event."""
        return self.thread_state.suspended

    @suspended.setter
    def suspended(self, value: bool) -> None:
        self.thread_state.suspended = value

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Context manager in whose block nothing is recorded in this thread: devlint does itself what happens there."""
        before, self.suspended = self.suspended, True
        try:
            yield
        finally:
            self.suspended = before

    @property
    def inside_composite(self) -> bool:
        """Return whether this thread is running the parts of a composite operator.

        A composite operator is one that consists of calls of other operators.
        """
        return self.thread_state.inside_composite

    @inside_composite.setter
    def inside_composite(self, value: bool) -> None:
        self.thread_state.inside_composite = value

    @property
    def checks_on_host(self) -> bool:
        """Return whether this thread runs a function whose reads are checks that a real accelerator does not make."""
        return self.thread_state.checks_on_host

    @checks_on_host.setter
    def checks_on_host(self, value: bool) -> None:
        self.thread_state.checks_on_host = value

    def resolve(self, device: torch.device | str | int | None) -> torch.device:
        """Return the device that an argument given by the program means, with its index if it is an emulated one.

        None means the host, a number an emulated device. A missing index means the current device. Raises the error
        that torch raises for a device that does not exist.
        """
        if device is None:
            return HOST
        known = self._resolved.get((device, self.current_index))
        if known is None:
            known = self._find_device(device)
            if known.type == self.kind:
                self._resolved[device, self.current_index] = known
        elif self.forked_after_init:
            self.initialize()
        return known

    def _find_device(self, device: torch.device | str | int) -> torch.device:
        """Return the device that an argument given by the program means, as `resolve` does."""
        if isinstance(device, int):
            device = torch.device(self.kind or "cuda", device)
        elif isinstance(device, str):
            device = torch.device(device)
        if self.kind is None:
            return device
        if device.type != self.kind:
            absent = BACKENDS.get(device.type)
            if absent is not None:
                raise torch_errors.absent_backend(absent)
            return device
        self.initialize()
        index = self.current_index if device.index is None or self.backend.single else device.index
        if not 0 <= index < self.device_count:
            raise torch_errors.invalid_device_index(self.backend, index, self.device_count)
        return self.devices[index]

    def emulates(self, device: torch.device) -> bool:
        """Return whether a device is of the type that this session emulates."""
        return device.type == self.kind

    def initialize(self) -> None:
        """Mark the emulated backend as initialized in this process, as a real one is by its first use.

        Raises RuntimeError in a forked child of a process that had initialized it, if torch checks that.
        """
        if self.forked_after_init and self.backend.after_fork is not None:
            raise RuntimeError(self.backend.after_fork)
        self.initialized = True

    def notify_recorders(self, tell: Callable[[Recorder, FrameType | None], None]) -> None:
        """Call a function for every recorder, with the recorder and the innermost frame of the user's code.

        Nothing is called while `suspended` is true.
        """
        if not self.recorders or self.suspended:
            return
        frame = user_frame(2)
        for recorder in self.recorders:
            tell(recorder, frame)

    def observe(self, observation: Observation) -> None:
        """Pass an observed problem to every recorder."""
        for recorder in self.recorders:
            recorder.record_observation(observation)

    def host_waited_for_copy(self, clock: dict[int, int]) -> None:
        """Complete the pending copies that are done when the host has waited for a blocking copy on the same stream.

        `clock` is the vector clock of that stream. No wait is recorded, because the blocking copy itself is.
        """
        self.streams.launched_before_wait = self.streams.launched_operators
        for pending in self.streams.complete(clock):
            self._deliver(pending)

    def deliver_pending_copies(self) -> None:
        """Complete every non-blocking copy that is still pending."""
        for pending in self.streams.complete():
            self._deliver(pending)

    def host_waited(self, what: str, clock: dict[int, int] | None = None) -> None:
        """Record that the host waited for the accelerator, and complete the non-blocking copies that it waited for.

        `what` names the reason for the wait, and `clock` is the vector clock of what was waited for; None means
        everything. Nothing is recorded inside of checks that are made on the host only.
        """
        if self.checks_on_host:
            return
        streams = self.streams
        streams.launched_before_wait = streams.launched_operators
        self.notify_recorders(lambda recorder, frame: recorder.record_wait(what, frame))
        for pending in streams.complete(clock):
            self._deliver(pending)

    def record_transfer(self, kind: TransferKind, nbytes: int, seconds: float = 0.0) -> None:
        """Tell all recorders about a copy of `nbytes` bytes between devices."""
        self.notify_recorders(lambda recorder, frame: recorder.record_transfer(kind, nbytes, seconds, frame))

    def _deliver(self, pending: PendingCopy) -> None:
        """Complete a pending non-blocking copy.

        A copy to the host gets its values now. For a copy from the host, it is reported if the source was overwritten.
        """
        buffer = pending.buffer
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            if pending.to_host:
                buffer.copy_(pending.snapshot)
            elif not pending.reported and not _equal_bytes(buffer, pending.snapshot):
                self.report_overwritten_buffer(pending)

    def report_overwritten_buffer(self, pending: PendingCopy) -> None:
        """Report a pinned buffer that was written while a non-blocking copy from it to a device is pending (DEV504)."""
        pending.reported = True
        message = "this pinned buffer is written while a non_blocking copy from it may still be in flight"
        steps = (HistoryStep("the copy is started here, and is not waited for", pending.site),)
        self.observe(Observation("DEV504", message, site_of(user_frame(2)) or pending.site, steps))

    def report_early_read(self, pending: PendingCopy, how: str) -> None:
        """Report the read of a host tensor while the non-blocking copy into it from a device is pending (DEV502).

        `how` names what reads the tensor. Each copy is reported once.
        """
        if pending.reported:
            return
        pending.reported = True
        message = f"{how} reads the result of a non_blocking copy to the host before anything waited for it"
        steps = (HistoryStep("the copy is started here, and is not waited for", pending.site),)
        self.observe(Observation("DEV502", message, site_of(user_frame(2)), steps))


def _equal_bytes(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Return whether two tensors have the same shape and the same bytes."""
    if left.shape != right.shape:
        return False
    return bool(torch.equal(left.contiguous().view(torch.uint8), right.contiguous().view(torch.uint8)))


active: RuntimeSession | None = None
"""The running session, or None."""


def _after_fork_in_child() -> None:
    """Note in the active session of a forked child process whether its parent had initialized the accelerator."""
    if active is not None:
        active.forked_after_init = active.initialized
        active.direct_calls = not active.initialized


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def current() -> RuntimeSession:
    """Return the active session; raise RuntimeError if there is none."""
    if active is None:
        raise RuntimeError("no devlint session is running")
    return active
