"""The one running session: the emulated devices, who records, and what both need to know of each other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch

from devlint.runtime import torch_errors
from devlint.runtime.call_sites import site_of, user_frame
from devlint.runtime.recorder import Observation, Recorder, TransferKind
from devlint.runtime.storage_labels import HOST, Step
from devlint.runtime.stream_clocks import Streams, Transit
from devlint.runtime.transfer_checks import Habits

if TYPE_CHECKING:
    from types import FrameType

KINDS = ("cuda", "mps")


class Session:
    """Emulated devices of one kind, and the recorders that listen. `kind` is None when real devices are watched."""

    def __init__(self, kind: str | None, devices: int) -> None:
        self.kind = kind
        self.count = devices if kind else 0
        self.devices = [torch.device(kind, index) for index in range(devices)] if kind else []
        self.streams = Streams()
        self.recorders: list[Recorder] = []
        self.initialised = False
        self.forked = False
        self.habits = Habits()
        self.keep_going = False
        self._local = threading.local()

    @property
    def index(self) -> int:
        """The current device of this thread."""
        return getattr(self._local, "index", 0)

    @index.setter
    def index(self, value: int) -> None:
        self._local.index = value

    @property
    def quiet(self) -> bool:
        """Whether this thread is inside something that is recorded as one event already."""
        return getattr(self._local, "quiet", False)

    @quiet.setter
    def quiet(self, value: bool) -> None:
        self._local.quiet = value

    @property
    def inside(self) -> bool:
        """Whether this thread is inside a composite whose operands are on several devices."""
        return getattr(self._local, "inside", False)

    @inside.setter
    def inside(self, value: bool) -> None:
        self._local.inside = value

    def resolve(self, device: torch.device | str | int | None) -> torch.device:
        """What the user wrote, as a device with an index; raises what torch raises for devices that do not exist."""
        if device is None:
            return HOST
        if isinstance(device, int):
            device = torch.device(self.kind or "cuda", device)
        elif isinstance(device, str):
            device = torch.device(device)
        if device.type != self.kind:
            return device
        self.initialise()
        index = self.index if device.index is None else device.index
        if not 0 <= index < self.count:
            raise torch_errors.invalid_ordinal()
        return self.devices[index]

    def emulates(self, device: torch.device) -> bool:
        """Whether a device is one of the emulated ones."""
        return device.type == self.kind

    def initialise(self) -> None:
        """The accelerator is used: CUDA's state now belongs to this process."""
        if self.forked:
            raise torch_errors.forked_child()
        self.initialised = True

    def record(self, tell: Callable[[Recorder, FrameType | None], None]) -> None:
        """Tell every recorder, with the user's frame."""
        if not self.recorders or self.quiet:
            return
        frame = user_frame(2)
        for recorder in self.recorders:
            tell(recorder, frame)

    def observe(self, observation: Observation) -> None:
        """Report something that was seen."""
        for recorder in self.recorders:
            recorder.observe(observation)

    def waited_for_copy(self, clock: dict[int, int]) -> None:
        """A blocking copy also waits for what its stream has done before."""
        self.streams.waited = self.streams.launched
        for transit in self.streams.arrive(clock):
            self._arrived(transit)

    def end(self) -> None:
        """Let everything arrive that is still under way."""
        for transit in self.streams.arrive():
            self._arrived(transit)

    def waited(self, what: str, clock: dict[int, int] | None = None) -> None:
        """The host waited: say so, and let the copies it waited for arrive."""
        streams = self.streams
        streams.waited = streams.launched
        self.record(lambda recorder, frame: recorder.wait(what, frame))
        for transit in streams.arrive(clock):
            self._arrived(transit)

    def transferred(self, kind: TransferKind, nbytes: int, seconds: float = 0.0) -> None:
        """Bytes moved between devices."""
        self.record(lambda recorder, frame: recorder.transfer(kind, nbytes, seconds, frame))

    def _arrived(self, transit: Transit) -> None:
        buffer = transit.buffer
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            if transit.inbound:
                buffer.copy_(transit.snapshot)
            elif not transit.reported and not _same(buffer, transit.snapshot):
                self.overwritten(transit)

    def overwritten(self, transit: Transit) -> None:
        """A pinned buffer changed while its copy was in flight."""
        transit.reported = True
        message = "this pinned buffer is written while a non_blocking copy from it may still be in flight"
        steps = (Step("the copy is started here, and is not waited for", transit.site),)
        self.observe(Observation("DEV504", message, site_of(user_frame(2)) or transit.site, steps))

    def read_early(self, transit: Transit, how: str) -> None:
        """The host reads what a non_blocking copy has not delivered yet."""
        if transit.reported:
            return
        transit.reported = True
        message = f"{how} reads the result of a non_blocking copy to the host before anything waited for it"
        steps = (Step("the copy is started here, and is not waited for", transit.site),)
        self.observe(Observation("DEV502", message, site_of(user_frame(2)), steps))


def _same(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.shape != right.shape:
        return False
    return bool(torch.equal(left.contiguous().view(torch.uint8), right.contiguous().view(torch.uint8)))


active: Session | None = None


def _in_child() -> None:
    if active is not None:
        active.forked = active.initialised


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def current() -> Session:
    """The running session."""
    if active is None:
        raise RuntimeError("no devlint session is running")
    return active
