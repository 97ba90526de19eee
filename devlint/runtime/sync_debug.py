"""A listener for the warnings that CUDA gives about waits of the host (`torch.cuda.set_sync_debug_mode`).

They serve to find waits that devlint's recorder has not counted.
"""

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
    """Listener that records CUDA's warnings about waits of the host, and keeps them out of the program's output."""

    def __init__(self, session: SessionProtocol) -> None:
        self._session = session
        self._before: tuple[int, Any, Any] | None = None

    def start(self) -> None:
        """Turn on CUDA's warnings about waits and record them, if the program has already initialized CUDA.

        Otherwise nothing happens: initializing CUDA here would change what the program's child processes may do.
        """
        if self._before is not None or not _cuda.is_initialized():
            return
        self._before = (_cuda.get_sync_debug_mode(), warnings.showwarning, list(warnings.filters))
        warnings.filterwarnings("always", message=SYNC_WARNING)
        warnings.showwarning = self._show_warning
        _cuda.set_sync_debug_mode("warn")

    def stop(self) -> None:
        """Restore CUDA's sync debug mode and Python's warning filters as they were before `start`."""
        if self._before is None:
            return
        mode, show, filters = self._before
        self._before = None
        _cuda.set_sync_debug_mode(mode)
        warnings.showwarning = show
        found: Any = warnings.filters
        found[:] = filters

    def _show_warning(self, message: Warning | str, *where: Any, **more: Any) -> None:
        """Tell the recorders of a CUDA warning that the host waits; show any other warning as Python would."""
        if not str(message).startswith(SYNC_WARNING):
            if self._before is not None:
                self._before[1](message, *where, **more)
            return
        frame = user_frame(2)
        for recorder in self._session.recorders:
            recorder.record_sync_warning(frame)
