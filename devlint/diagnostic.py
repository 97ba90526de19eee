"""What devlint says: one frozen `Diagnostic`, the only thing an output format ever sees.

Rows and columns are 1-based; columns count characters (code points), and an end column is exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """How bad it is: it crashes or computes something wrong, it is slow or fragile, it is worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(Enum):
    """How sure devlint is; the order of the members is from most to least sure."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    def at_least(self, other: Confidence) -> bool:
        """Whether this is as sure as `other` or surer."""
        order = list(Confidence)
        return order.index(self) <= order.index(other)


class Applicability(Enum):
    """Whether a fix keeps behaviour on every path, changes it by intent, or is only shown."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a text: 1-based row, 1-based column in characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Region:
    """A stretch of one file; `end` is exclusive. `cell` is the 1-based notebook cell, rows then count within it."""

    filename: str
    start: Position
    end: Position
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """One step of the story: what happened to the tensor, and where."""

    message: str
    region: Region


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions by `content`. `cell` is the notebook cell in which they are counted."""

    content: str
    start: Position
    end: Position
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mends the finding, and how far it may be trusted."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: the rule, the place, what is wrong, its story (oldest step first) and what to write instead."""

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    region: Region
    trace: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    url: str | None = None
    fingerprint: str = ""

    @property
    def order(self) -> tuple[str, int, Position, str]:
        """The order of every report: file, cell, place, code."""
        return (self.region.filename, self.region.cell or 0, self.region.start, self.code)
