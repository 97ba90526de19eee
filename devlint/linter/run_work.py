"""What a run has done, as plain data: which files it has analysed in what time, and which results were known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FileTime:
    """The processor time in seconds that the analysis of a file took.

    `definitions` has the time of each definition with its name, if that was measured.
    """

    filename: str
    seconds: float
    definitions: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RunWork:
    """The work of a run over some files.

    `analysed` are the times of the files that were analysed. The results of `from_cache` other files were stored by an
    earlier run, and in `without_tensors` files no tensor can occur, so that they were only parsed. `processes` is the
    number of processes that analysed files.
    """

    analysed: tuple[FileTime, ...] = ()
    from_cache: int = 0
    without_tensors: int = 0
    processes: int = 1


NO_WORK: Final = RunWork()
"""The work of a run without files."""
