"""Records of the uses of CUDA-only API in a program: where they are, and whether they are ported or left, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from devlint.diagnostic import Edit, Region


class Outcome(Enum):
    """What became of one use of CUDA-only API; the value of a member is its name in reports."""

    PORTED = "ported"
    """It is replaced by code that runs on any accelerator."""
    ON_PURPOSE = "left on purpose"
    """It runs only where CUDA was asked for, or no other accelerator has the like."""
    FOR_HUMAN = "left for a human"
    """There is an equivalent, but the program does not tell whether it would do the same."""


@dataclass(frozen=True, slots=True)
class CudaUse:
    """One use of CUDA-only API: its region, its source text, what became of it, and the new text or the reason.

    `edits` are the changes of the file that port it; they are empty for a use that is left. `has_equivalent` is False
    where no other accelerator has the like.
    """

    region: Region
    text: str
    outcome: Outcome
    note: str
    edits: tuple[Edit, ...] = ()
    has_equivalent: bool = True


class Left(Exception):
    """The exception that says why one use of CUDA-only API is left as it is."""

    outcome = Outcome.FOR_HUMAN
    has_equivalent = True

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LeftForHuman(Left):
    """The reason why a use is left for a human: the program does not tell whether its equivalent would do the same."""


class LeftInGuard(Left):
    """The reason why a use is left on purpose: it runs only where the program has asked for one backend."""

    outcome = Outcome.ON_PURPOSE


class WithoutEquivalent(Left):
    """The reason why a use is left on purpose: no other accelerator has the like."""

    outcome = Outcome.ON_PURPOSE
    has_equivalent = False


@dataclass(frozen=True, slots=True)
class Port:
    """The port of one use: the new text to show, and the edits that make it."""

    shown: str
    edits: Sequence[Edit]
