"""One of the parts into which a run is divided, so that several machines share the work."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts of a run, by its number from 1.

    Each part reports the findings in its own files, so that the parts together report what the whole run does.
    """

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"
