"""`--watch`: check again whenever a file has changed that may change the answer."""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import click

from devlint.cli import terminal
from devlint.cli.job import Request, run
from devlint.config.files import FILENAMES
from devlint.discovery import SUFFIXES

_READ = (*SUFFIXES, *FILENAMES, ".gitignore")
_SETTLED = 200
"""Milliseconds without a further change after which the files are taken to be as they shall be."""


def watch(request: Request) -> int:
    """Check, and check anew after each change, until somebody interrupts."""
    gc.enable()  # each round leaves the one before it to be collected
    try:
        import watchfiles
    except ImportError:
        raise click.UsageError("--watch needs watchfiles: pip install 'devlint[watch]'") from None

    folders = _folders(request)
    if not folders:
        return run(request)
    usual = watchfiles.DefaultFilter()
    changes = watchfiles.watch(
        *folders,
        watch_filter=lambda change, path: path.endswith(_READ) and usual(change, path),
        debounce=_SETTLED,
        rust_timeout=_SETTLED,
        yield_on_timeout=True,
    )
    begun = False
    status = 0
    # It says nothing new every now and then. The first time it does, it is watching already: no change is missed.
    for changed in changes:
        if changed or not begun:
            begun = True
            status = _check(request)
    return status


def _check(request: Request) -> int:
    if sys.stdout.isatty():
        click.clear()
    try:
        status = run(request)
    except click.ClickException as problem:
        # What is wrong may be mended while the watch goes on.
        problem.show()
        status = problem.exit_code
    terminal.note(f"checked at {time.strftime('%H:%M:%S')}; waiting for changes, Ctrl+C ends this")
    return status


def _folders(request: Request) -> list[Path]:
    """The directories to watch: those that were named, and those of the files that were."""
    named = [*request.paths, *([request.config] if request.config else [])]
    return list(dict.fromkeys(path if path.is_dir() else path.parent for path in named if path.exists()))
