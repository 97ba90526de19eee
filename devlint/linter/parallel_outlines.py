"""The outlines of a program's files, found by several processes at once, so that the program is indexed sooner."""

from __future__ import annotations

import marshal
import multiprocessing
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from devlint.interpreter.program.program import Program
from devlint.syntax.index import outline_source
from devlint.syntax.source import SourceError
from devlint.syntax.statement_outline import FileOutline

_CHARACTERS_FOR_A_FORK: Final = 500_000
"""The characters of files to be indexed that are worth a process of their own."""


def outline_in_processes(program: Program, jobs: int) -> None:
    """Find the outlines of those files to analyse that are to be indexed, by at most `jobs` processes.

    The other processes are copies of this one, which does a share itself. They send nothing for files that cannot be
    parsed, and what a process that dies has not sent is missing: such files are parsed when they are loaded.
    """
    if jobs < 2:
        return
    sources = ((path, program.source(path)) for path in program.paths_of_interest)
    sizes = {path: len(source.text) for path, source in sources if source is not None}
    if sum(sizes.values()) < 2 * _CHARACTERS_FOR_A_FORK:
        return
    # Where the index of the largest file is stored, so are most others: a warm run does not look for each of them.
    if not program.is_to_be_indexed(max(sizes, key=lambda path: sizes[path])):
        return
    sizes = {path: size for path, size in sizes.items() if program.is_to_be_indexed(path)}
    processes = min(jobs, len(sizes), sum(sizes.values()) // _CHARACTERS_FOR_A_FORK)
    if processes < 2:
        return
    own, *others = _shares(sizes, processes)
    context = multiprocessing.get_context("fork")
    started = []
    try:
        for share in others:
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_send_outlines, args=(program, share, theirs), daemon=True)
            process.start()
            theirs.close()
            started.append((process, ours))
        for path in own:
            program.load(path)
        for _, pipe in started:
            with suppress(EOFError, OSError):
                for name, plain in marshal.loads(pipe.recv_bytes()):
                    program.keep_outline(Path(name), FileOutline.from_plain(plain))
    finally:
        for process, pipe in started:
            process.kill()
            process.join()
            pipe.close()


def _shares(sizes: dict[Path, int], count: int) -> Sequence[Sequence[Path]]:
    """Return the files in shares of about the same size: each file, the largest first, goes to the smallest share."""
    shares: list[list[Path]] = [[] for _ in range(count)]
    filled = [0] * count
    for path in sorted(sizes, key=lambda one: (-sizes[one], one)):
        least = filled.index(min(filled))
        shares[least].append(path)
        filled[least] += sizes[path]
    return shares


def _send_outlines(program: Program, paths: Sequence[Path], pipe: Connection) -> None:
    """Find the outlines of some files and send them through a pipe: the main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found: list[tuple[str, tuple[Any, ...]]] = []
    for path in paths:
        source = program.source(path)
        if source is not None:
            with suppress(SourceError):
                found.append((path.as_posix(), outline_source(source).to_plain()))
    with suppress(OSError):
        pipe.send_bytes(marshal.dumps(found))
    # The process ends at once, as those that analyse files do.
    os._exit(0)
