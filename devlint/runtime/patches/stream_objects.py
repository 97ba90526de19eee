"""The classes that replace `torch.Stream`, `torch.cuda.Stream` and the events of both for emulated devices.

Nothing runs in parallel on an emulated device, but the order of work and waits is tracked.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from devlint.runtime.stream_clocks import StreamClock

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession


class EmulatedEvent:
    """Emulated `torch.cuda.Event`: a point in the work of a stream, kept as a copy of the stream's vector clock."""

    session: ClassVar[RuntimeSession]

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self.enable_timing = enable_timing
        self.clock: dict[int, int] | None = None
        self._time = 0.0

    def record(self, stream: EmulatedStream | None = None) -> None:
        """Set this event to the point that the work of a stream has reached; None means the current stream."""
        self.clock = dict(self._clock_of(stream).clock)
        self._time = time.perf_counter()

    def wait(self, stream: EmulatedStream | None = None) -> None:
        """Make the later work of a stream wait for this event; None means the current stream."""
        self._clock_of(stream).wait(self.clock or {})

    def synchronize(self) -> None:
        """Make the host wait for the work that its stream had enqueued when this event was recorded."""
        self.session.host_waited("event.synchronize", self.clock or {})

    def query(self) -> bool:
        """Return True, because emulated work is done as soon as it is launched.

        The call is recorded as a wait of the host for this event.
        """
        self.session.host_waited("event.query", self.clock or {})
        return True

    def elapsed_time(self, end: EmulatedEvent) -> float:
        """Return the milliseconds from the recording of this event to the recording of the event `end`."""
        if not (self.enable_timing and end.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.clock is None or end.clock is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end._time - self._time) * 1000.0

    def _clock_of(self, stream: EmulatedStream | None) -> StreamClock:
        """Return the vector clock of a stream, or that of the current stream if the stream is None."""
        if stream is not None:
            return stream.stream_clock
        return self.session.streams.current(self.session.devices[self.session.current_index])


class EmulatedStream:
    """Emulated `torch.cuda.Stream`: a sequence of work on an emulated device, with a vector clock of its progress."""

    session: ClassVar[RuntimeSession]
    event: ClassVar[type[EmulatedEvent]]

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        self.device = self.session.resolve(self.session.kind if device is None else device)
        streams = self.session.streams
        self.stream_clock = streams.default(self.device) if self.session.backend.single else streams.create(self.device)
        self.priority = priority

    @classmethod
    def from_clock(cls, stream_clock: StreamClock) -> EmulatedStream:
        """Return a stream object for an existing vector clock of a stream."""
        stream = cls.__new__(cls)
        stream.device, stream.stream_clock, stream.priority = stream_clock.device, stream_clock, 0
        return stream

    @classmethod
    def context(cls, stream: EmulatedStream | None) -> Any:
        """Return a context manager that makes a stream the current stream of this thread; it does nothing for None."""
        return _CurrentStreamScope(cls.session, stream)

    @property
    def stream_id(self) -> int:
        """Return the number that identifies this stream."""
        return self.stream_clock.identity

    cuda_stream = stream_id

    def synchronize(self) -> None:
        """Make the host wait for all work enqueued on this stream."""
        self.session.host_waited("stream.synchronize", self.stream_clock.clock)

    def wait_stream(self, other: EmulatedStream) -> None:
        """Make the later work of this stream wait for the work that another stream has enqueued so far."""
        self.stream_clock.wait(other.stream_clock.clock)

    def wait_event(self, event: EmulatedEvent) -> None:
        """Make the later work of this stream wait for an event of another stream."""
        self.stream_clock.wait(event.clock or {})

    def record_event(self, event: EmulatedEvent | None = None) -> EmulatedEvent:
        """Record an event on this stream, and return the event; for None, a new event is made."""
        event = self.event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """Return True, because emulated work is done as soon as it is launched.

        The call is recorded as a wait of the host for this stream.
        """
        self.session.host_waited("stream.query", self.stream_clock.clock)
        return True

    def is_capturing(self) -> bool:
        """Return False, because CUDA graphs are not captured on the emulated device."""
        return False

    def __enter__(self) -> EmulatedStream:
        self._chosen = _CurrentStreamScope(self.session, self)
        self._chosen.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._chosen.__exit__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EmulatedStream) and other.stream_clock is self.stream_clock

    def __hash__(self) -> int:
        return hash(self.stream_clock.identity)


class AnyDeviceEvent(EmulatedEvent):
    """Emulated `torch.Event`, which takes the device first; its `device` is the one that the event belongs to."""

    def __init__(
        self, device: Any = None, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        super().__init__(enable_timing, blocking, interprocess)
        self.device = self.session.resolve(self.session.kind if device is None else device)


def stream_and_event(session: RuntimeSession) -> tuple[type[EmulatedStream], type[EmulatedEvent]]:
    """Return new subclasses of `EmulatedStream` and `EmulatedEvent` that belong to the given session."""
    event = type("Event", (EmulatedEvent,), {"session": session})
    return type("Stream", (EmulatedStream,), {"session": session, "event": event}), event


def any_device_event(session: RuntimeSession, event: type[EmulatedEvent]) -> type[EmulatedEvent]:
    """Return the class that replaces `torch.Event` in the given session; its base is the session's own event class."""
    return type("Event", (AnyDeviceEvent, event), {"session": session})


class _CurrentStreamScope:
    """Context manager that makes a stream the current stream of this thread, and restores the one before at the end."""

    def __init__(self, session: RuntimeSession, stream: Any) -> None:
        self.session = session
        self.stream = stream

    def __enter__(self) -> Any:
        if self.stream is not None:
            self.before = self.session.streams.current(self.stream.device)
            self.session.streams.set_current(self.stream.stream_clock)
        return self.stream

    def __exit__(self, *_: object) -> None:
        if self.stream is not None:
            self.session.streams.set_current(self.before)
