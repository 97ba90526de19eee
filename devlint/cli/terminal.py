"""Messages on the standard error stream, the line of progress, and the colours and width of the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Final, TextIO

import click

from devlint.linter.progress import Progress, no_progress

_REDRAWN_EVERY: Final = 0.05
"""The seconds after which another count of the same phase is shown; writing each would take time itself."""
_QUIET: Final = ContextVar("_QUIET", default=False)
"""Whether notes, warnings and progress are left out."""
_COLOR: Final = ContextVar[bool | None]("_COLOR", default=None)
"""Whether to use colours; None for what the environment says."""
_LINE: Final = ContextVar["ProgressLine | None"]("_LINE", default=None)
"""The line that shows what the run is doing, None if there is none."""
_NEAR: Final = 0.8
"""How alike, of 1, a word and the option must be that somebody probably meant by it."""


@contextmanager
def settings(*, quiet: bool, color: bool | None) -> Iterator[None]:
    """Set, within a `with` block, what is written to the terminal.

    `quiet` leaves out notes, warnings and progress, and keeps errors. `color` is None for what the environment says.
    """
    tokens = _QUIET.set(quiet), _COLOR.set(color)
    try:
        yield
    finally:
        _QUIET.reset(tokens[0])
        _COLOR.reset(tokens[1])


def has_color(stream: TextIO | None = None) -> bool:
    """Return whether to use colours on a stream, by default the standard output.

    The option `--color` decides first, then the environment variables `NO_COLOR` and `FORCE_COLOR`, then whether the
    output is a terminal.
    """
    chosen = _COLOR.get()
    if chosen is not None:
        return chosen
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def is_shown(*, to_stderr: bool) -> bool:
    """Return whether a terminal shows the standard output, or the standard error stream if `to_stderr` is set."""
    return (sys.stderr if to_stderr else sys.stdout).isatty()


def width() -> int:
    """Return the number of columns that a report on the terminal may take: the width of the terminal."""
    return shutil.get_terminal_size((120, 24)).columns


def warn(text: str) -> None:
    """Write a message, marked as a warning, to the standard error stream."""
    if not _QUIET.get():
        _write("warning:", "yellow", text)


def note(text: str) -> None:
    """Write a message, marked as a note, to the standard error stream."""
    if not _QUIET.get():
        _write("note:", "cyan", text)


def error(text: str) -> None:
    """Write a message, marked as an error, to the standard error stream."""
    _write("error:", "red", text)


def show_problem(problem: click.ClickException) -> None:
    """Write what ends a command: a wrong command line with its usage, anything else as an error."""
    if isinstance(problem, click.NoSuchOption):
        _with_near_options(problem).show()
    elif isinstance(problem, click.UsageError):
        problem.show()
    else:
        error(problem.format_message())


def _with_near_options(problem: click.NoSuchOption) -> click.NoSuchOption:
    """Return the error about a misspelt option with those suggestions only that are nearly spelt as it is."""
    name = problem.option_name
    near = get_close_matches(name, problem.possibilities or (), cutoff=_NEAR)
    return click.NoSuchOption(name, problem.message, near, problem.ctx)


def _write(mark: str, colour: str, text: str) -> None:
    """Write a message with a coloured mark to the standard error stream."""
    line = _LINE.get()
    if line is not None:
        line.erase()
    click.echo(f"{click.style(mark, fg=colour, bold=True)} {text}", err=True, color=_COLOR.get())


class ProgressLine:
    """A line at the bottom of the terminal that says what a run is doing; it is gone when the run has ended."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shown = ""
        self._phase = ""
        self._drawn_at = 0.0

    def __call__(self, phase: str, done: int, total: int, name: str = "") -> None:
        """Show a phase of the run, with the number of the file that comes next and of all files, and with its name."""
        now = time.monotonic()
        if not name and phase == self._phase and now - self._drawn_at < _REDRAWN_EVERY:
            return
        self._phase, self._drawn_at = phase, now
        count = f" {done}/{total}" if total else ""
        self._write(f"{phase}{count}{f' {name}' if name else ''}"[: width() - 1])

    def erase(self) -> None:
        """Remove the line from the terminal, so that other text can stand there."""
        if self._shown:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text: str) -> None:
        """Write a text over the line."""
        self._stream.write(f"\r{text}{' ' * (len(self._shown) - len(text))}")
        self._stream.flush()
        self._shown = text


def _noting_phases(show: Progress) -> Progress:
    """Return a function that writes a note for each phase of a run, besides what `show` shows."""
    noted = set[str]()

    def told(phase: str, done: int, total: int, name: str = "") -> None:
        if phase not in noted:
            noted.add(phase)
            note(f"{phase.lower()}{f': {total} files' if total else ''}")
        show(phase, done, total, name)

    return told


@contextmanager
def progress(*, verbose: bool = False) -> Iterator[Progress]:
    """Yield a function that shows on the terminal what a run is doing, from its first call to the end of the block.

    It shows nothing if the standard error stream is no terminal. If `verbose`, it writes a note for each phase.
    """
    if _QUIET.get() or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _noting_phases(no_progress) if verbose else no_progress
        return
    line = ProgressLine(sys.stderr)
    token = _LINE.set(line)
    try:
        yield _noting_phases(line) if verbose else line
    finally:
        line.erase()
        _LINE.reset(token)
