"""The data of a report: frozen `Diagnostic` objects, which are all that an output format receives.

Rows and columns are 1-based; columns count characters (code points), and an end column is exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """The severity of a finding.

    An error crashes or computes a wrong result, a warning is slow or fragile, and an info is worth knowing.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(Enum):
    """The confidence of a finding; the members are ordered from most to least certain."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    def at_least(self, other: Confidence) -> bool:
        """Return whether this confidence is as high as `other` or higher."""
        order = list(Confidence)
        return order.index(self) <= order.index(other)


class Applicability(Enum):
    """The safety of a fix: it keeps behaviour on every path, changes behaviour intentionally, or is only displayed."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A position in a text: 1-based row, 1-based column in characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Region:
    """A range of one file, whose `end` is exclusive.

    `cell` is the 1-based notebook cell; rows then count within the cell.
    """

    filename: str
    start: Position
    end: Position
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """One step in the trace of a finding: what happened to the tensor, and where."""

    message: str
    region: Region


@dataclass(frozen=True, slots=True)
class Edit:
    """The replacement of the text between two positions by `content`.

    `cell` is the notebook cell in which the positions are counted.
    """

    content: str
    start: Position
    end: Position
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of edits that resolves a finding, with its message and its safety."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of a report: the rule, the region, the message, the trace (oldest step first), advice and a fix."""

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
        """The sort key of a finding in every report: file, cell, position, code."""
        return (self.region.filename, self.region.cell or 0, self.region.start, self.code)
