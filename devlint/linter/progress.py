"""The interface by which a run of devlint tells how far it has come."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A function that is told what a run is doing."""

    def __call__(self, phase: str, done: int, total: int, name: str = "") -> None:
        """Take the phase of the run, how many of all its files are done, and the name of the file that comes next.

        `total` is 0 where the number of files is not known.
        """


def no_progress(phase: str, done: int, total: int, name: str = "") -> None:
    """Tell nobody."""
