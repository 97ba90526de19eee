"""Run a test suite in a process of its own, for a limited time, and read how it ended."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

LAST_SECONDS: Final = 600
"""The seconds that a suite has for the linter and its report after it was interrupted at its time limit."""


def last_line(output: str) -> str:
    """Return pytest's last line: how many tests passed and failed."""
    return next((line for line in reversed(output.splitlines()) if " in " in line), "no end").strip("= ")


def interrupted_at(seconds: int, command: Sequence[str], home: Path, environment: Mapping[str, str]) -> str:
    """Run a command, interrupt it as Ctrl-C does once its time is over, and return what it printed."""
    with subprocess.Popen(
        command, cwd=home, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            return process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=LAST_SECONDS)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0]
