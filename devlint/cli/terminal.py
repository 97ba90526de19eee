"""Messages on the standard error stream, the progress bar, and the colours and width of the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Final, TextIO

import click

_PROGRESS_DELAY = 1.0
"""The seconds before a progress bar appears; shorter work needs none."""
_QUIET: Final = ContextVar("_QUIET", default=False)
"""Whether notes, warnings and progress are left out."""
_COLOR: Final = ContextVar[bool | None]("_COLOR", default=None)
"""Whether to use colours; None for what the environment says."""
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
    click.echo(f"{click.style(mark, fg=colour, bold=True)} {text}", err=True, color=_COLOR.get())


@contextmanager
def progress() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that takes the numbers of done and of all files, and draws a progress bar on the terminal.

    The bar appears only once the work has taken a second. Yield None if the standard error stream is no terminal.
    """
    if _QUIET.get() or not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    bar: click._termui_impl.ProgressBar[int] | None = None

    def draw(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - started < _PROGRESS_DELAY:
                return
            bar = click.progressbar(length=total, label="Checking", file=sys.stderr, show_pos=True)
            bar.render_progress()
        bar.update(done - bar.pos)

    try:
        yield draw
    finally:
        if bar is not None:
            bar.render_finish()
