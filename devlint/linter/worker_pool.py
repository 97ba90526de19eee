"""The analysis of a program's files by several processes; a process that dies costs the result of one file only."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from devlint.interpreter.program.program import Program
from devlint.interpreter.state.failures import InternalError
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.file_findings import FileFindings
from devlint.linter.json_records import from_json, to_json
from devlint.linter.peak_memory import peak_memory
from devlint.linter.progress import Progress, no_progress
from devlint.linter.run_work import FileTime

StartMethod: TypeAlias = Literal["fork", "spawn"]
"""The way to start a process: as a copy of this one, or from nothing."""

_BYTES_FOR_A_FORK: Final = 150_000
_BYTES_FOR_A_START: Final = 1_000_000
"""The bytes of files about tensors that are worth a process of their own, if it is a copy or must load devlint anew.

A new process spends about a second to load devlint and to index the program.
"""
_BYTES_TO_HOLD: Final = 10_000_000
"""The bytes of files about tensors whose syntax trees one process may hold all together."""
_GROWTH_OF_A_FORK: Final = 250_000_000
_GROWTH_OF_A_START: Final = 1_000_000_000
"""The bytes of memory by which a process may grow before another one takes its place.

A process keeps the syntax trees of all files that it has read, since files beside each other import the same ones. Its
successor parses again what it needs, and one that is no copy must index the program anew.
"""
_CHUNKS_FOR_EACH: Final = 6
"""The number of portions that each process takes on average: small ones at the end let all of them finish together."""


@dataclass(frozen=True, slots=True)
class ProgramInputs:
    """What makes a program and its analysis: paths with names, rule codes, source folders, models, given contents.

    The files `aside` are those in which no tensor can occur. With `timed`, the time of each definition is measured.
    """

    files: Sequence[tuple[Path, str]]
    codes: frozenset[str]
    src: Sequence[Path] = ()
    models: Sequence[Path] = ()
    texts: Mapping[Path, bytes] = field(default_factory=dict)
    aside: frozenset[Path] = frozenset()
    timed: bool = False

    def analyser(self) -> FileAnalyser:
        """Return the analyser of the program's files."""
        program = Program(self.files, self.src, self.texts)
        program.set_aside(self.aside)
        return FileAnalyser(program, self.codes, self.models, timed=self.timed)


def start_method() -> StartMethod:
    """Return how to start processes here: by a copy, where that is safe, because nothing else runs in this process."""
    return "fork" if sys.platform == "linux" and threading.active_count() == 1 else "spawn"


def processes_for(sizes: Sequence[int], most: int, method: StartMethod) -> int:
    """Return the number of processes that are worth starting for files about tensors of these sizes in bytes."""
    each = _BYTES_FOR_A_FORK if method == "fork" else _BYTES_FOR_A_START
    return max(1, min(most, len(sizes), sum(sizes) // each))


def outgrows_one_process(sizes: Sequence[int], method: StartMethod) -> bool:
    """Return whether files about tensors are too much for this process to hold, so that others take turns."""
    return method == "fork" and sum(sizes) > _BYTES_TO_HOLD


def analyse_in_processes(
    analyser: FileAnalyser,
    inputs: ProgramInputs,
    sizes: Mapping[Path, int],
    jobs: int,
    method: StartMethod,
    done: Callable[[FileTime], None] = lambda time: None,
    progress: Progress = no_progress,
) -> dict[Path, FileFindings]:
    """Return the results for the given files whose sizes are given, analysed by `jobs` processes.

    A copy of this process uses `analyser`, with what it has read already; a new process makes its own from `inputs`.
    `done` is called after each file with the time that it took; `progress` is told what is read before.
    """
    if method == "fork":
        # What all processes need is read once, before they are copied.
        for number, path in enumerate(sizes):
            progress("Reading", number, len(sizes))
            analyser.program.load(path)
        progress("Looking at what the files import", 0, 0)
        # Nearly every analysis asks which files the program has; those that are imported only are read here as well.
        _ = analyser.facts.imports.files
        analyser.facts.gather()
    source = analyser if method == "fork" else inputs
    results: dict[Path, FileFindings] = {}
    with _Pool(source, analyser.program, _portions(sizes, jobs), method) as pool:
        for path, result, time in pool.run(jobs):
            results[path] = result
            done(time)
    return results


def _portions(sizes: Mapping[Path, int], jobs: int) -> deque[deque[Path]]:
    """Return the files in portions of decreasing size, each of files that lie beside each other.

    Such files import the same modules, which a process then reads and parses once for all of them.
    """
    portions: deque[deque[Path]] = deque()
    left = sum(sizes.values())
    room = 0
    for path in sorted(sizes):
        if room <= 0:
            portions.append(deque())
            room = left // (_CHUNKS_FOR_EACH // 2 * jobs)
        portions[-1].append(path)
        room -= sizes[path]
        left -= sizes[path]
    return portions


@dataclass(slots=True)
class _Worker:
    """A process that analyses files, with this process's end of the pipe to it, and the files it has still to do."""

    process: BaseProcess
    pipe: Connection
    files: deque[Path] = field(default_factory=deque)


class _Pool:
    """Some processes that analyse files, and the portions of files that none of them has taken yet."""

    def __init__(
        self,
        source: FileAnalyser | ProgramInputs,
        program: Program,
        portions: deque[deque[Path]],
        method: StartMethod,
    ) -> None:
        self._program = program
        self._context = multiprocessing.get_context(method)
        self._source = source
        self._portions = portions
        self._workers: list[_Worker] = []
        self._finished: list[_Worker] = []

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *about: object) -> None:
        # A second interrupt must not leave processes behind.
        with _interrupts_held():
            for worker in self._workers:
                worker.process.kill()
            for worker in (*self._workers, *self._finished):
                worker.process.join()

    def run(self, jobs: int) -> Iterator[tuple[Path, FileFindings, FileTime]]:
        """Start so many processes, and yield the result for each file with its time when it is there."""
        for _ in range(min(jobs, len(self._portions))):
            self._start()
        while self._workers:
            ready = wait([worker.pipe for worker in self._workers])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    message = worker.pipe.recv_bytes()
                except (EOFError, OSError):
                    yield from self._bury(worker)
                    continue
                path = worker.files.popleft()
                found, time, is_full = json.loads(message)
                yield path, from_json(FileFindings, found), from_json(FileTime, time)
                if is_full:
                    self._replace(worker)
                elif not worker.files:
                    self._employ(worker)

    def _start(self) -> None:
        """Start a process, and give it a portion of the files."""
        ours, theirs = self._context.Pipe()
        process: Any = self._context.Process(target=_work, args=(self._source, theirs), daemon=True)  # type: ignore[attr-defined]
        with _interrupts_held():
            process.start()
            self._workers.append(_Worker(process, ours))
        theirs.close()
        self._employ(self._workers[-1])

    def _employ(self, worker: _Worker) -> None:
        """Give a process the next portion of files; none lets it end."""
        if self._portions:
            worker.files = self._portions.popleft()
        else:
            self._workers.remove(worker)
            self._finished.append(worker)
        # A process that has ended meanwhile is buried when its pipe is read.
        with suppress(OSError):
            worker.pipe.send_bytes(json.dumps([path.as_posix() for path in worker.files]).encode())

    def _replace(self, worker: _Worker) -> None:
        """Let another process take the place of one that has ended because it had grown too much."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join()
        if worker.files:
            self._portions.appendleft(worker.files)
        if self._portions:
            self._start()

    def _bury(self, worker: _Worker) -> Iterator[tuple[Path, FileFindings, FileTime]]:
        """Yield a result for the file amid which a process has ended, and start another process for its other files."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join()
        path = worker.files.popleft()
        lost = _lost(self._program.name_of(path), worker.process.exitcode)
        yield path, lost, FileTime(lost.filename, 0.0)
        if worker.files:
            self._portions.appendleft(worker.files)
        if self._portions:
            self._start()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Let an interrupt wait until the end of the `with` block, where the system can.

    A process that is started meanwhile gets none: an interrupt reaches all processes of a terminal, and it is the one
    that started the others which then ends them.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _lost(name: str, status: int | None) -> FileFindings:
    """Return the result for a file amid whose analysis the process ended with this status."""
    how = f"by signal {-status}" if status is not None and status < 0 else f"with status {status}"
    why = ", as when memory runs out" if status == -signal.SIGKILL else ""
    return FileFindings(
        name, errors=(InternalError(name, "", f"the process that analysed it was ended {how}{why}", ""),)
    )


def _work(source: FileAnalyser | ProgramInputs, pipe: Connection) -> None:
    """Analyse the files that arrive by a pipe, and send their results back: the main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        _serve(source, pipe)
    # The process ends at once: to free millions of syntax nodes would take seconds.
    os._exit(0)


@with_deep_stack
def _serve(source: FileAnalyser | ProgramInputs, pipe: Connection) -> None:
    """Analyse the files of each portion that arrives, until an empty one does or the process has grown too much."""
    most = _GROWTH_OF_A_START if isinstance(source, ProgramInputs) else _GROWTH_OF_A_FORK
    analyser = source.analyser() if isinstance(source, ProgramInputs) else source
    before = peak_memory()
    while portion := json.loads(pipe.recv_bytes()):
        for name in portion:
            found, time = analyser.analyse_timed(Path(name))
            is_full = peak_memory() - before > most
            pipe.send_bytes(json.dumps([to_json(found), to_json(time), is_full]).encode())
            if is_full:
                return
