"""Record of the lines of the user's code that run, by `sys.monitoring` if Python has it and else by `sys.settrace`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from devlint.runtime.call_sites import is_library

_TOOL = 4
"""The tool id that devlint uses with `sys.monitoring`; Python leaves it free."""


OnError = Callable[[BaseException, FrameType], None]
"""Takes an exception and the frame of the user's code to which it comes."""


class LineCoverage:
    """Context manager that collects the (file name, line) pairs of the user's code that run while it is active.

    It collects nothing if a debugger or another tool already occupies Python's tracing. With `only_if_cheap` it
    collects nothing either where Python has no `sys.monitoring`, since `sys.settrace` slows every call down. `on_error`
    is called with each exception that comes to the user's code, even if the code catches it.
    """

    def __init__(self, *, only_if_cheap: bool = False, on_error: OnError | None = None) -> None:
        self.ran: set[tuple[str, int]] = set()
        self._on_error = on_error
        self._only_if_cheap = only_if_cheap
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._active = False

    def __enter__(self) -> LineCoverage:
        if self._monitoring is not None:
            self._active = self._monitor()
        elif sys.gettrace() is None and not self._only_if_cheap:
            threading.settrace(self._call)
            sys.settrace(self._call)
            self._active = True
        return self

    def __exit__(self, *_: object) -> None:
        if not self._active:
            return
        if self._monitoring is not None:
            self._monitoring.set_events(_TOOL, 0)
            self._monitoring.free_tool_id(_TOOL)
        else:
            sys.settrace(None)
            threading.settrace(None)

    def _monitor(self) -> bool:
        """Start to collect lines by `sys.monitoring`, and return True.

        Returns False, and collects nothing, if another tool already uses the tool id that devlint needs.
        """
        monitoring = self._monitoring
        if monitoring.get_tool(_TOOL) is not None:
            return False
        monitoring.use_tool_id(_TOOL, "devlint")

        def line(code: CodeType, number: int) -> Any:
            if not is_library(code.co_filename):
                self.ran.add((code.co_filename, number))
            return monitoring.DISABLE

        def error(code: CodeType, instruction: int, error: BaseException) -> None:
            if self._on_error is not None and not is_library(code.co_filename):
                self._on_error(error, sys._getframe(1))

        monitoring.register_callback(_TOOL, monitoring.events.LINE, line)
        monitoring.register_callback(_TOOL, monitoring.events.RAISE, error)
        monitoring.set_events(_TOOL, monitoring.events.LINE | monitoring.events.RAISE)
        return True

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        """Return the function that traces the lines of a new frame, or None for a frame of a library.

        This is the trace function for `sys.settrace`.
        """
        filename = frame.f_code.co_filename
        if is_library(filename):
            return None
        ran = self.ran

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            ran.add((filename, frame.f_lineno))
            if event == "exception" and self._on_error is not None and isinstance(argument[1], BaseException):
                self._on_error(argument[1], frame)
            return line

        return line

    @property
    def files(self) -> tuple[str, ...]:
        """Return the names of the user's source files of which at least one line ran, sorted."""
        return tuple(sorted({filename for filename, _ in self.ran}))
