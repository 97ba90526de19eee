"""CUDA's own word on what makes the host wait, `set_sync_debug_mode`, as a second witness beside the recorder."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from devlint.runtime.call_sites import user_frame
from devlint.runtime.session_protocol import SessionProtocol

SYNC_WARNING = "called a synchronizing CUDA operation"
_cuda: Any = torch.cuda


class SyncDebugListener:
    """Hears CUDA's warnings as long as the session lasts, and keeps them from the program's own output."""

    def __init__(self, session: SessionProtocol) -> None:
        self._session = session
        self._before: tuple[int, Any, Any] | None = None

    def start(self) -> None:
        """Listen, once the program has begun to use CUDA: to begin for it would change what its children may do."""
        if self._before is not None or not _cuda.is_initialized():
            return
        self._before = (_cuda.get_sync_debug_mode(), warnings.showwarning, list(warnings.filters))
        warnings.filterwarnings("always", message=SYNC_WARNING)
        warnings.showwarning = self._show_warning
        _cuda.set_sync_debug_mode("warn")

    def stop(self) -> None:
        """Leave everything as it was found."""
        if self._before is None:
            return
        mode, show, filters = self._before
        self._before = None
        _cuda.set_sync_debug_mode(mode)
        warnings.showwarning = show
        found: Any = warnings.filters
        found[:] = filters

    def _show_warning(self, message: Warning | str, *where: Any, **more: Any) -> None:
        if not str(message).startswith(SYNC_WARNING):
            if self._before is not None:
                self._before[1](message, *where, **more)
            return
        frame = user_frame(2)
        for recorder in self._session.recorders:
            recorder.record_sync_warning(frame)
