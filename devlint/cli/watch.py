"""`--watch`: check again whenever a file has changed that may change the answer."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import click

from devlint.cli import terminal
from devlint.cli.job import Request, run
from devlint.config.config_files import FILENAMES
from devlint.linter.discovery import SUFFIXES

_SETTINGS: Final = (*FILENAMES, ".gitignore")
_SETTLED: Final = 100
"""Milliseconds without a further change after which the files are taken to be as they shall be."""
_UNASKED: Final = 5_000
"""Milliseconds after which the disk is looked at though nothing was said of it: watchfiles forgets a change that comes
in just when it hands out others or gives up waiting, and it does not watch the settings above the folders."""

State = Mapping[Path, tuple[int, int]]
"""When each file that matters was written, and how long it is."""


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
    hints = watchfiles.watch(
        *folders, watch_filter=None, step=_SETTLED, rust_timeout=_UNASKED, yield_on_timeout=True, debug=False
    )
    seen: State | None = None
    status = 0
    # Hints only say when to look: what has changed is what the disk says.
    for _ in chain([None], hints):
        state = _state(folders, watchfiles.DefaultFilter.ignore_dirs)
        if state != seen:
            seen = state
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


def _state(folders: Sequence[Path], ignored: Collection[str]) -> State:
    """How the files that matter are now."""
    state = {}
    for path in _files(folders, ignored):
        try:
            found = path.stat()
        except OSError:
            continue
        state[path] = found.st_mtime_ns, found.st_size
    return state


def _files(folders: Sequence[Path], ignored: Collection[str]) -> Iterator[Path]:
    """The files to read in the folders, and those that may hold settings there or above."""
    for above in {parent for folder in folders for parent in folder.absolute().parents}:
        yield from (above / name for name in _SETTINGS)
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name not in ignored]
            yield from (Path(place, name) for name in names if name.endswith((*SUFFIXES, *_SETTINGS)))
