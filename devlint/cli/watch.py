"""Watch mode of `devlint check` (`--watch`): check again after each change of a Python or configuration file."""

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
from devlint.cli.check_run import CheckRequest, run_check
from devlint.cli.exit_status import FAILED
from devlint.config.config_files import FILENAMES
from devlint.installation import install_command
from devlint.linter.discovery import SUFFIXES

_SETTINGS_FILES: Final = (*FILENAMES, ".gitignore")
"""The names of files that decide what is checked and how."""
_DEBOUNCE: Final = 100
"""The milliseconds without a further change after which a check starts."""
_POLL_INTERVAL: Final = 5_000
"""The milliseconds after which the files are compared even if watchfiles has reported no change.

watchfiles may lose a change that happens while it reports others or while its wait times out, and it does not watch
configuration files above the watched directories.
"""

FileStates = Mapping[Path, tuple[int, int]]
"""The modification time in nanoseconds and the size in bytes of each relevant file."""


def watch(request: CheckRequest) -> int:
    """Check, and check again after each change of a file, until the user interrupts; return the last exit status."""
    gc.enable()  # `main` turns the garbage collector off, but each check leaves garbage behind
    try:
        # Imported here since watchfiles is an optional dependency.
        import watchfiles
    except ImportError:
        raise click.UsageError(f"--watch needs watchfiles: {install_command('watch')}") from None

    folders = _watched_folders(request)
    if not folders:
        return run_check(request)
    change_events = watchfiles.watch(
        *folders, watch_filter=None, step=_DEBOUNCE, rust_timeout=_POLL_INTERVAL, yield_on_timeout=True, debug=False
    )
    seen: FileStates | None = None
    status = 0
    # The events only tell when to compare: whether a file has changed is read from the disk.
    for _ in chain([None], change_events):
        state = _file_states(folders, watchfiles.DefaultFilter.ignore_dirs)
        if state != seen:
            seen = state
            status = _check_and_wait(request)
    return status


def _check_and_wait(request: CheckRequest) -> int:
    """Check once on a cleared terminal, write a note that devlint waits for changes, and return the exit status."""
    if sys.stdout.isatty():
        click.clear()
    try:
        status = run_check(request)
    except click.ClickException as problem:
        # The user may correct the error while devlint waits.
        terminal.show_problem(problem)
        status = FAILED
    terminal.note(f"checked at {time.strftime('%H:%M:%S')}; waiting for changes, Ctrl+C ends this")
    return status


def _watched_folders(request: CheckRequest) -> list[Path]:
    """Return the directories to watch: those that the command line names, and those of the files that it names."""
    named = [*request.paths, *([request.config] if request.config else [])]
    return list(dict.fromkeys(path if path.is_dir() else path.parent for path in named if path.exists()))


def _file_states(folders: Sequence[Path], ignored: Collection[str]) -> FileStates:
    """Return the modification time and size of each Python or configuration file that a check may depend on."""
    state = {}
    for path in _relevant_files(folders, ignored):
        try:
            found = path.stat()
        except OSError:
            continue
        state[path] = found.st_mtime_ns, found.st_size
    return state


def _relevant_files(folders: Sequence[Path], ignored: Collection[str]) -> Iterator[Path]:
    """Yield the Python files below folders, and the possible configuration files there and in the directories above."""
    for above in {parent for folder in folders for parent in folder.absolute().parents}:
        yield from (above / name for name in _SETTINGS_FILES)
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if name not in ignored]
            yield from (Path(place, name) for name in names if name.endswith((*SUFFIXES, *_SETTINGS_FILES)))
