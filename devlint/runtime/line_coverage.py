"""Which lines and files of the user's code ran: by `sys.monitoring` where Python has it, by tracing elsewhere."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any

from devlint.runtime.call_sites import is_library

_TOOL = 4
"""One of the ids that `sys.monitoring` leaves free."""


class LineCoverage:
    """Collects (filename, line) while it is entered; nothing where a debugger traces already."""

    def __init__(self) -> None:
        self.ran: set[tuple[str, int]] = set()
        self._monitoring: Any = getattr(sys, "monitoring", None)
        self._active = False

    def __enter__(self) -> LineCoverage:
        if self._monitoring is not None:
            self._active = self._monitor()
        elif sys.gettrace() is None:
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
        monitoring = self._monitoring
        if monitoring.get_tool(_TOOL) is not None:
            return False
        monitoring.use_tool_id(_TOOL, "devlint")

        def line(code: CodeType, number: int) -> Any:
            if not is_library(code.co_filename):
                self.ran.add((code.co_filename, number))
            return monitoring.DISABLE

        monitoring.register_callback(_TOOL, monitoring.events.LINE, line)
        monitoring.set_events(_TOOL, monitoring.events.LINE)
        return True

    def _call(self, frame: FrameType, event: str, argument: object) -> Any:
        filename = frame.f_code.co_filename
        if is_library(filename):
            return None
        ran = self.ran

        def line(frame: FrameType, event: str, argument: object) -> Any:
            ran.add((filename, frame.f_lineno))
            return line

        return line

    @property
    def files(self) -> tuple[str, ...]:
        """The user's files of which something ran."""
        return tuple(sorted({filename for filename, _ in self.ran}))
