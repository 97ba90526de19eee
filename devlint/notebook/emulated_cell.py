"""A run of one cell of an interactive session on emulated accelerators."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from typing import Any, Final

from devlint.notebook.nested_run import run_under_number
from devlint.runtime.record_and_emulate import emulate, record

_CELL_FILE: Final = re.compile(r"<ipython-input-[^>]+>|\S*ipykernel_\d+[/\\]\d+\.py")
"""The names under which IPython and its kernel compile cells."""


def run_cell(shell: Any, cell: str, kind: str, devices: int) -> Iterator[str]:
    """Run a cell on emulated accelerators of a kind, and yield the report of what was seen to happen."""
    error: BaseException | None = None
    try:
        with emulate(devices, kind), record() as report:
            error = run_under_number(shell, cell).error_in_exec
            if error is not None:
                # The recording looks at what ends its block; the session has shown the traceback already.
                raise error
    except BaseException as raised:
        if raised is not error:
            raise
    for part in report.full():
        yield _CELL_FILE.sub(lambda found: _cell_name(shell, found[0]), part)


def _cell_name(shell: Any, filename: str) -> str:
    """Return the name of the cell that was compiled under a file name, by its number in the session."""
    path = filename if filename.startswith("<") else os.path.abspath(filename)
    _, told = shell.compile.format_code_name(path) or ("", "")
    number = re.fullmatch(r"In\[(\d+)\]", told)
    return f"cell {number[1]}" if number is not None else filename
