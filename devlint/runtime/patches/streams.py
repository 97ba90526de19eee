"""`Stream` and `Event` of the emulated device: nothing runs in parallel, but what was waited for is known."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.streams import Timeline

if TYPE_CHECKING:
    from devlint.runtime.session import Session


def make_event(session: Session) -> type:
    """The class of events of this session."""

    class Event:
        """A point on a stream."""

        def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
            self.enable_timing = enable_timing
            self.clock: dict[int, int] | None = None
            self._time = 0.0

        def record(self, stream: Any = None) -> None:
            """Mark how far the stream has come."""
            timeline = stream.timeline if stream is not None else _current(session)
            self.clock = dict(timeline.clock)
            self._time = time.perf_counter()

        def wait(self, stream: Any = None) -> None:
            """Let a stream wait for this point."""
            timeline = stream.timeline if stream is not None else _current(session)
            timeline.wait(self.clock or {})

        def synchronize(self) -> None:
            """Let the host wait for this point."""
            session.waited("event.synchronize", self.clock or {})

        def query(self) -> bool:
            """Whether the device is past this point; emulated work is done as soon as it is launched."""
            session.waited("event.query", self.clock or {})
            return True

        def elapsed_time(self, end: Event) -> float:
            """Milliseconds between two recorded events."""
            if not (self.enable_timing and end.enable_timing):
                raise ValueError("Both events must be created with argument 'enable_timing=True'.")
            if self.clock is None or end.clock is None:
                raise ValueError("Both events must be recorded before calculating elapsed time.")
            return (end._time - self._time) * 1000.0

    return Event


def make_stream(session: Session, kind: torch.device) -> Any:
    """The class of streams of this session."""

    class Stream:
        """A sequence of work on a device."""

        def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
            self.device = session.resolve(kind if device is None else device)
            self.timeline = session.streams.create(self.device)
            self.priority = priority

        @classmethod
        def wrap(cls, timeline: Timeline) -> Stream:
            """The stream object of a timeline."""
            stream = cls.__new__(cls)
            stream.device, stream.timeline, stream.priority = timeline.device, timeline, 0
            return stream

        @staticmethod
        def context(stream: Stream | None) -> Any:
            """Make a stream current for a while."""
            return _Chosen(session, stream)

        @property
        def stream_id(self) -> int:
            return self.timeline.identity

        @property
        def cuda_stream(self) -> int:
            return self.timeline.identity

        def synchronize(self) -> None:
            """Let the host wait for this stream."""
            session.waited("stream.synchronize", self.timeline.clock)

        def wait_stream(self, other: Stream) -> None:
            """Let this stream wait for what another one has done."""
            self.timeline.wait(other.timeline.clock)

        def wait_event(self, event: Any) -> None:
            """Let this stream wait for a point of another one."""
            self.timeline.wait(event.clock or {})

        def record_event(self, event: Any = None) -> Any:
            """Mark how far this stream has come."""
            event = make_event(session)() if event is None else event
            event.record(self)
            return event

        def query(self) -> bool:
            """Whether the stream is done."""
            session.waited("stream.query", self.timeline.clock)
            return True

        def is_capturing(self) -> bool:
            """No graph is ever captured."""
            return False

        def __enter__(self) -> Stream:
            self._chosen = _Chosen(session, self)
            self._chosen.__enter__()
            return self

        def __exit__(self, *_: object) -> None:
            self._chosen.__exit__()

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Stream) and other.timeline is self.timeline

        def __hash__(self) -> int:
            return hash(self.timeline.identity)

    return Stream


class _Chosen:
    def __init__(self, session: Session, stream: Any) -> None:
        self.session = session
        self.stream = stream

    def __enter__(self) -> Any:
        if self.stream is not None:
            self.before = self.session.streams.current(self.stream.device)
            self.session.streams.choose(self.stream.timeline)
        return self.stream

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            self.session.streams.choose(self.before)


def _current(session: Session) -> Timeline:
    return session.streams.current(session.devices[session.index])
