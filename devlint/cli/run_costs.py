"""What a run has cost, as `--profile`, `--statistics` and `--verbose` say it: time, memory, and the slowest code."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Final

from devlint.linter.peak_memory import peak_memory
from devlint.linter.run_work import RunWork

_SHOWN: Final = 10
"""The number of files, and of definitions, that `--profile` names."""
_LEAST: Final = 0.005
"""The seconds below which a definition is not named: they would be shown as zero."""


class RunMeter:
    """A meter of what this process and those that it starts spend from now on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._before = _processor_seconds()

    def summary(self, work: RunWork) -> Iterator[str]:
        """Yield two lines on a run that has done some work: what became of its files, and what it has cost."""
        analysed = len(work.analysed)
        total = analysed + work.from_cache + work.without_tensors
        by = f" by {work.processes} processes" if work.processes > 1 else ""
        parts = [f"{analysed} analysed{by}", f"{work.from_cache} from the cache"]
        if work.without_tensors:
            parts.append(f"{work.without_tensors} without tensors")
        yield f"{total} {'file' if total == 1 else 'files'}: {', '.join(parts)}"
        wall, processor = time.monotonic() - self._began, _processor_seconds() - self._before
        yield f"{wall:.2f} s, {processor:.2f} s of processor time{_memory_text()}"

    def profile(self, work: RunWork) -> Iterator[str]:
        """Yield the lines of `--profile`: the files and definitions that took longest, and the summary of the run."""
        total = sum(one.seconds for one in work.analysed)
        if work.analysed:
            yield "slowest files, in seconds of processor time"
            yield from _rows([(one.seconds, one.filename) for one in work.analysed], total)
            named = [
                (seconds, f"{one.filename}: {name}")
                for one in work.analysed
                for name, seconds in one.definitions
                if seconds >= _LEAST
            ]
            if named:
                yield "slowest definitions, with what they call"
                yield from _rows(named, total)
        elif work.from_cache:
            yield "no file was analysed, because every result was in the cache: --no-cache measures them all"
        yield from self.summary(work)


def _rows(found: list[tuple[float, str]], total: float) -> Iterator[str]:
    """Yield a line for each of the largest times, with its share of all times and what it was spent on."""
    for seconds, name in sorted(found, key=lambda one: (-one[0], one[1]))[:_SHOWN]:
        yield f"{seconds:9.2f}  {seconds / total if total else 0:6.1%}  {name}"


def _processor_seconds() -> float:
    """Return the processor time of this process and of those that it has started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _memory_text() -> str:
    """Return what is said of the peak memory of this process and of the largest that it has started."""
    own, largest = peak_memory(), peak_memory(of_children=True)
    if not own:
        return ""
    others = f" ({largest / 1e6:.0f} MB in the largest process that it started)" if largest else ""
    return f", peak memory {own / 1e6:.0f} MB{others}"
