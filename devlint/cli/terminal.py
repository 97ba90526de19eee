"""What the terminal is like, and what is said on it beside the report."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

_PATIENCE = 1.0
"""Seconds before a progress bar appears: short work needs none."""


def has_color() -> bool:
    """Whether the standard output takes colours. `NO_COLOR` and `FORCE_COLOR` have the last word, in this order."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def width() -> int:
    """How many columns a report for people may take."""
    return shutil.get_terminal_size((120, 24)).columns


def warn(text: str) -> None:
    """Say something on the standard error that is no finding."""
    click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {text}", err=True)


def note(text: str) -> None:
    """Say something on the standard error that is good to know."""
    click.echo(f"{click.style('note:', fg='cyan', bold=True)} {text}", err=True)


def fail(text: str) -> None:
    """Say on the standard error what devlint could not do."""
    click.echo(f"{click.style('error:', fg='red', bold=True)} {text}", err=True)


@contextmanager
def progress() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that takes (done, total) and draws a bar once the work proves long; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = time.monotonic()
    bar: click._termui_impl.ProgressBar[int] | None = None

    def draw(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            if time.monotonic() - begun < _PATIENCE:
                return
            bar = click.progressbar(length=total, label="Checking", file=sys.stderr, show_pos=True)
            bar.render_progress()
        bar.update(done - bar.pos)

    try:
        yield draw
    finally:
        if bar is not None:
            bar.render_finish()
