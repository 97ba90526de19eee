"""A listener for CUDA's warnings about waits (`set_sync_debug_mode`), which check the recorder's own counts."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from devlint.runtime.call_sites import user_frame
from devlint.runtime.session_protocol import SessionProtocol

SYNC_WARNING = "called a synchronizing CUDA operation"
"""The beginning of CUDA's warning that the host waits."""
_cuda: Any = torch.cuda


class SyncDebugListener:
    """Records CUDA's warnings about waits during a session, and keeps them out of the program's output."""

    def __init__(self, session: SessionProtocol) -> None:
        self._session = session
        self._before: tuple[int, Any, Any] | None = None

    def start(self) -> None:
        """Start to listen once the program has initialized CUDA.

        Initializing CUDA here would change what the program's child processes may do.
        """
        if self._before is not None or not _cuda.is_initialized():
            return
        self._before = (_cuda.get_sync_debug_mode(), warnings.showwarning, list(warnings.filters))
        warnings.filterwarnings("always", message=SYNC_WARNING)
        warnings.showwarning = self._show_warning
        _cuda.set_sync_debug_mode("warn")

    def stop(self) -> None:
        """Restore the debug mode and the warning filters that were found."""
        if self._before is None:
            return
        mode, show, filters = self._before
        self._before = None
        _cuda.set_sync_debug_mode(mode)
        warnings.showwarning = show
        found: Any = warnings.filters
        found[:] = filters

    def _show_warning(self, message: Warning | str, *where: Any, **more: Any) -> None:
        """Record a warning about a wait; show any other warning as before."""
        if not str(message).startswith(SYNC_WARNING):
            if self._before is not None:
                self._before[1](message, *where, **more)
            return
        frame = user_frame(2)
        for recorder in self._session.recorders:
            recorder.record_sync_warning(frame)
