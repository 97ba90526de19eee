"""Messages on the standard error stream, the progress bar, and the colours and width of the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

_PROGRESS_DELAY = 1.0
"""The seconds before a progress bar appears; shorter work needs none."""


def has_color() -> bool:
    """Return whether to use colours on the standard output.

    The environment variable `NO_COLOR` decides first, then `FORCE_COLOR`, then whether the output is a terminal.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Return the number of columns that a report on the terminal may take: the width of the terminal."""
    return shutil.get_terminal_size((120, 24)).columns


def warn(text: str) -> None:
    """Write a message, marked as a warning, to the standard error stream."""
    click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {text}", err=True)


def note(text: str) -> None:
    """Write a message, marked as a note, to the standard error stream."""
    click.echo(f"{click.style('note:', fg='cyan', bold=True)} {text}", err=True)


def error(text: str) -> None:
    """Write a message, marked as an error, to the standard error stream."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {text}", err=True)


@contextmanager
def progress() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that takes the numbers of done and of all files, and draws a progress bar on the terminal.

    The bar appears only once the work has taken a second. Yield None if the standard error stream is no terminal.
    """
    if not sys.stderr.isatty():
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
