"""A limit on the processor time of a piece of generated code, which may never end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class TooLong(BaseException):
    """Generated code ran too long. No `except Exception` in that code stops it."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooLong


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Context manager that raises TooLong when its block has used this much processor time."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.05)  # again, where a finalizer swallows it
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
