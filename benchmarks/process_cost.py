"""What a command and the processes that it starts cost: processor time, wall time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

WRITING_BYTECODE: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of the processes: Python writes bytecode first and finds it later, as where it is installed."""
_PROC: Final = Path("/proc")
_SAMPLED_EVERY: Final = 0.5
_SHARE_OF_SAMPLES: Final = 50
"""The seconds between two looks at the memory of all processes, and how many times as long as a look they are at least.

A look at a large process takes a tenth of a second.
"""
_MAXRSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """The exit status of a command and what it cost: seconds, and MB of memory.

    `largest` is the peak of the largest of its processes. `together` is the most that was seen of all of them at one
    time, where memory that they share counts once; it is the same as `largest` where the system does not tell.
    """

    status: int
    processor: float
    wall: float
    largest: float
    together: float


def cost_of(command: Sequence[str], cwd: Path | None = None, limit: float = threading.TIMEOUT_MAX) -> Cost:
    """Run a command whose output nobody reads, and return what it cost; raises OSError if it cannot be started.

    It is killed after `limit` seconds, and then has a negative status.
    """
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=WRITING_BYTECODE
    )
    stopper = threading.Timer(limit, process.kill)
    stopper.daemon = True
    stopper.start()
    with _Sampler(process.pid) as sampler:
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
    stopper.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    largest = used.ru_maxrss * _MAXRSS_UNIT / 1e6
    return Cost(process.returncode, used.ru_utime + used.ru_stime, wall, largest, max(sampler.peak / 1e6, largest))


class _Sampler:
    """A thread that looks at the memory of a process and of those that it has started; `peak` is the most, in bytes."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> _Sampler:
        self._thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        took = 0.0
        while not self._over.wait(max(_SAMPLED_EVERY, _SHARE_OF_SAMPLES * took)):
            began = time.perf_counter()
            self.peak = max(self.peak, sum(map(_proportional_size, _family(self._pid, _children()))))
            took = time.perf_counter() - began


def _children() -> Mapping[int, Sequence[int]]:
    """Return the processes that each process has started, by their numbers; none where the system does not tell."""
    found: dict[int, list[int]] = {}
    for place in _PROC.glob("[0-9]*/stat"):
        try:
            parent = int(place.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        found.setdefault(parent, []).append(int(place.parent.name))
    return found


def _family(pid: int, children: Mapping[int, Sequence[int]]) -> Iterator[int]:
    """Yield the numbers of a process and of all that it has started, directly or not."""
    yield pid
    for child in children.get(pid, ()):
        yield from _family(child, children)


def _proportional_size(pid: int) -> int:
    """Return the bytes of memory of a process, its share only of what it shares; 0 where the system does not tell."""
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
