"""Patch for threads: a dispatch mode is active in one thread only, so every new thread must enter devlint's mode."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher


def install(patcher: Patcher, mode: Callable[[], AbstractContextManager[Any]]) -> None:
    """Patch `threading.Thread` so that new threads run under devlint's dispatch mode, which `mode()` makes."""

    def bootstrap(self: Any) -> None:
        run = self.run

        def run_under_mode() -> None:
            with mode():
                run()

        self.run = run_under_mode
        start(self)

    start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]
    patcher.replace(threading.Thread, "_bootstrap_inner", bootstrap)
