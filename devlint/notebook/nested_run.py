"""A run of the code of a cell from within the magic at its top."""

from __future__ import annotations

from typing import Any


def run_under_number(shell: Any, cell: str) -> Any:
    """Run the code of the cell that is being run, and return IPython's result; tracebacks tell the cell's own number.

    IPython has counted on when a magic begins, and would take the code for that of the next cell.
    """
    following = shell.execution_count
    shell.execution_count = len(shell.history_manager.input_hist_raw) - 1
    try:
        return shell.run_cell(cell, store_history=False)
    finally:
        shell.execution_count = following
