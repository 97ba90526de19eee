"""A limit on the processor time of a piece of generated code, which may never end."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any


class TooLong(BaseException):
    """Generated code ran too long. No `except Exception` in that code stops it."""


@contextlib.contextmanager
def time_limit(seconds: float, files: frozenset[str]) -> Iterator[None]:
    """Context manager that raises TooLong in generated code when its block has used this much processor time.

    `files` are the file names with which the generated code was compiled. The exception is raised at the next line of
    that code, never inside a library that the code calls: an exception between any two instructions of torch could
    leave a dispatch mode behind, and everything that runs later in the process would be emulated.
    """

    def raise_too_long(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            raise TooLong
        return raise_too_long

    def stop_generated_code(number: int, frame: FrameType | None) -> None:
        sys.settrace(lambda *_: None)  # without it, no frame is traced
        while frame is not None:
            if frame.f_code.co_filename in files:
                frame.f_trace = raise_too_long
            frame = frame.f_back

    tracer = sys.gettrace()
    handler = signal.signal(signal.SIGVTALRM, stop_generated_code)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.05)  # again, for code that catches the exception
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
        sys.settrace(tracer)
