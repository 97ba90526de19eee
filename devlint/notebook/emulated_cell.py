"""A run of one cell of an interactive session on emulated accelerators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from devlint.runtime.record_and_emulate import emulate, record


def run_cell(shell: Any, cell: str, kind: str, devices: int) -> Iterator[str]:
    """Run a cell on emulated accelerators of a kind, and yield the report of what was seen to happen."""
    error: BaseException | None = None
    try:
        with emulate(devices, kind), record() as report:
            error = shell.run_cell(cell, store_history=False).error_in_exec
            if error is not None:
                # The recording looks at what ends its block; the session has shown the traceback already.
                raise error
    except BaseException as raised:
        if raised is not error:
            raise
    yield from report.full()
