"""The process in which drivers run: started with limits, asked over pipes, and ended with all its children."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from devlint.diagnostic import Diagnostic
from devlint.linter.json_records import to_json

DRIVERS = "devlint.runtime.driven_runs"
TESTS = "devlint.runtime.driven_tests"
_PATIENCE = 10
"""How many times its limit a driver may take by the clock on the wall, however busy the machine is."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process of drivers may take: seconds for a driver, and megabytes in all.

    Time in which a driver waits for a processor does not count, so that a busy machine changes no verdict.
    """

    seconds: float
    megabytes: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding to judge, and its story: the places that must run for it, each as a file and two rows.

    `skippable` tells that a place may be skipped although its row runs: it is in a branch of a conditional expression.
    A run without an error then refutes nothing.
    """

    finding: Diagnostic
    story: tuple[tuple[str, int, int], ...]
    skippable: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception that ended a driver: its type, message, and places, innermost first (file, line, function).

    `missing` is the module that could not be imported, and `emulated` is False for what the emulation cannot do.
    """

    type: str
    message: str
    missing: str | None = None
    emulated: bool = True
    places: tuple[tuple[str, int, str], ...] = ()

    def __str__(self) -> str:
        first, *_ = self.message.splitlines() or [""]
        return f"{self.type}: {first}" if first else self.type


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one run shows about one finding. `devlint.runtime.driven_evidence` tells what each field means."""

    verdict: str
    detail: str
    raised: str | None
    after_going_on: bool
    row: int | None
    filename: str | None
    reached: bool
    ended: bool
    told: bool
    held: bool
    errors: int
    behind: bool = False
    at_place: bool = True
    used: bool = False
    used_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run of a driver shows: how it ended, how many lines of code it ran, and evidence on each finding."""

    error: Failure | None
    ran: int
    evidence: tuple[Evidence, ...]


class NoAnswer(Exception):
    """Exception for a process that gave no answer: it took too long, or ended. Its text says which."""


class DriverProcess:
    """A process that runs drivers, one after the other. What they import stays loaded between them.

    The project's own modules are loaded anew for a driver that imports from another folder (`folder` and `project` of
    its request): two folders may hold modules of the same name.
    """

    def __init__(
        self, module: str, device: str, claims: Sequence[Claim], folder: Path, limits: Limits, paths: Sequence[str] = ()
    ) -> None:
        self._limits = limits
        own = str(Path(__file__).parents[2])
        searched = [own, *paths, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(limits.megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, searched)),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONHASHSEED": "0",
                "MPLBACKEND": "agg",
                "WANDB_MODE": "disabled",
            },
            encoding="utf-8",
            start_new_session=True,
        )
        self._waited = 0.0
        self._answers: queue.Queue[str] = queue.Queue()
        assert self._process.stdout is not None
        threading.Thread(target=_pass_on, args=(self._process.stdout, self._answers), daemon=True).start()
        self._send({"device": device, "claims": [[to_json(one.finding), one.story, one.skippable] for one in claims]})

    def run(self, request: Mapping[str, Any]) -> Answer:
        """Have one driver run, and return what it shows. Raises NoAnswer if there is no answer in time."""
        self._send(request)
        end, latest = self.clock() + self._limits.seconds, time.monotonic() + _PATIENCE * self._limits.seconds
        while True:
            left = min(end - self.clock(), latest - time.monotonic())
            try:
                line = self._answers.get(timeout=max(left, 0))
                break
            except queue.Empty:
                if left <= 0:
                    raise NoAnswer(f"it ran longer than {self._limits.seconds:g} seconds") from None
        if not line:
            raise NoAnswer(self._why_ended())
        return _answer(json.loads(line))

    def clock(self) -> float:
        """Return a time in seconds that stands still while the process waits for a processor.

        Linux tells how long that was; elsewhere it is the time of the clock on the wall.
        """
        with contextlib.suppress(OSError, ValueError, IndexError):
            _, waited, *_ = Path(f"/proc/{self._process.pid}/schedstat").read_text(encoding="ascii").split()
            self._waited = int(waited) / 1e9
        return time.monotonic() - self._waited

    def _send(self, request: Mapping[str, Any]) -> None:
        """Send a request. If the process has ended, the lack of an answer will tell."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()

    def _why_ended(self) -> str:
        """Return why the process ended without an answer."""
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "its process gave no answer"
        if status < 0:
            return f"its process was ended by {signal.Signals(-status).name}"
        return f"its process ended with status {status}"

    def end(self) -> None:
        """End the process, and what it has started itself."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


@contextmanager
def driver_process(
    module: str, device: str, claims: Sequence[Claim], folder: Path, limits: Limits, paths: Sequence[str] = ()
) -> Iterator[DriverProcess]:
    """Context manager that starts a process for drivers in a folder, and ends it however its block is left."""
    process = DriverProcess(module, device, claims, folder, limits, paths)
    try:
        yield process
    finally:
        process.end()


def _pass_on(stream: IO[str], answers: queue.Queue[str]) -> None:
    """Put the lines of a stream into a queue, and an empty text at its end."""
    with contextlib.suppress(ValueError, OSError):  # the pipe is closed when the process is ended
        for line in stream:
            answers.put(line)
    answers.put("")


def _answer(said: Mapping[str, Any]) -> Answer:
    """Return the answer that a line of JSON holds."""
    error = said["error"]
    failure = None
    if error is not None:
        places = tuple((name, line, function) for name, line, function in error["places"])
        failure = Failure(error["type"], error["message"], error["missing"], error["emulated"], places)
    return Answer(failure, said["ran"], tuple(Evidence(**one) for one in said["evidence"]))
