"""The data of a report on checked files: frozen `Diagnostic` objects, the only input of every output format.

Rows and columns are 1-based; columns count characters (code points), and an end column is exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final


class Severity(Enum):
    """How bad a finding is: error, warning or info.

    An error means that the code crashes or computes a wrong result, a warning that it is slow or fragile. An info is
    only worth knowing.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(Enum):
    """How sure devlint is that a finding is right. The members are ordered from the most to the least certain."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"

    @property
    def rank(self) -> int:
        """The position of this confidence among all, from 0 for the highest."""
        return list(Confidence).index(self)

    def at_least(self, other: Confidence) -> bool:
        """Return whether this confidence is at least as high as the confidence `other`."""
        return self.rank <= other.rank


class AssumptionKind(Enum):
    """What sort of thing a finding takes for granted; the value of a member is its name in the JSON output.

    That the code runs where there is an accelerator is the subject of every finding, and no assumption.
    """

    CONDITION = "condition"
    """A condition of the program decides where a tensor is, and it is one way round."""
    NO_ACCELERATOR = "no accelerator"
    """The program runs on a machine that has no such accelerator."""
    OPTION = "option"
    """A command-line option has its default value, or another one."""
    DEFAULT = "default"
    """A call leaves out an argument, so that a parameter has its default value."""
    CALLER = "caller"
    """Code outside the program passes a tensor on an accelerator to a function."""
    MOVED_MODULE = "moved module"
    """Code outside the program moves the module to an accelerator, and what the module is called with."""
    DEVICE_ARGUMENT = "device argument"
    """A device that the program asks for by a name, such as a parameter `device` or `x.device`, is an accelerator."""
    TENSOR = "tensor"
    """A value whose type the program does not tell is a tensor."""
    LOADER = "loader"
    """A data loader yields host tensors."""
    UNSEEN_MODULE = "unseen module"
    """A module whose code is not known computes with an input."""
    CALL_SITES = "call sites"
    """A private function is called from its own file only."""
    CONSTRUCTED = "constructed"
    """An attribute still holds what the constructor has stored there."""
    UNCAST = "uncast"
    """Code outside the program does not cast the module to another dtype."""
    SHARED_MEMORY = "shared memory"
    """A call that may copy returns the memory that it was given."""
    INTENT = "intent"
    """The author means something else than what the statement does."""
    HOST_MODULE = "host module"
    """A module whose own code asks for an accelerator by name is run on the host."""
    DIMENSIONS = "dimensions"
    """A host tensor of unknown shape is not 0-dim, so that no operation takes it beside an accelerator tensor."""
    CALLED = "called"
    """Somebody calls a function, or passes an argument, that nothing in the function's own project calls or passes."""
    NO_EXCEPTION = "no exception"
    """The body of a `try` statement raises none of the exceptions that the statement handles."""
    RECORDED = "recorded"
    """Code outside the program calls a function without turning off gradients, as it does to infer."""


OF_CALLERS: Final = frozenset({AssumptionKind.CALLER, AssumptionKind.MOVED_MODULE, AssumptionKind.DEVICE_ARGUMENT})
"""The kinds of assumptions that code outside the program chooses an accelerator."""

BENIGN: Final = frozenset(AssumptionKind) - {
    AssumptionKind.CONDITION,
    AssumptionKind.CALLER,
    AssumptionKind.CALLED,
    AssumptionKind.HOST_MODULE,
    AssumptionKind.DIMENSIONS,
    AssumptionKind.RECORDED,
}
"""The kinds of assumptions that often hold in real programs, so that a finding with them is still likely.

The table of precision by kind, `benchmarks/first_sight.py report`, is what this set is checked against. Of 52 findings
in code never seen before that needed a condition of the program to be one way round, four were true: a program decides
such conditions together.
"""


def confidence_under(assumed: Iterable[AssumptionKind]) -> Confidence:
    """Return how sure devlint is of a finding with assumptions of these kinds.

    Without any, the finding is certain; with benign ones it is likely, and with any other it is only possible. So it is
    where an attribute must still hold what the constructor made and at most an option is assumed besides: of ten such
    findings that were read none was true.
    """
    kinds = set(assumed)
    if not kinds:
        return Confidence.CERTAIN
    if AssumptionKind.CONSTRUCTED in kinds and kinds <= {AssumptionKind.CONSTRUCTED, AssumptionKind.OPTION}:
        return Confidence.POSSIBLE
    return Confidence.LIKELY if kinds <= BENIGN else Confidence.POSSIBLE


class Applicability(Enum):
    """The safety of a fix: safe (behaviour is kept on every path), unsafe (behaviour may change), or only displayed.

    Only displayed means that devlint shows the edits and never applies them.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A position in a source text: row and column, both counted from 1; columns count characters."""

    row: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class Region:
    """A range of text in one source file, from the position `start` to the position `end`, which is exclusive.

    `cell` is the number of a notebook cell, from 1; rows then count within the cell. It is None outside notebooks.
    """

    filename: str
    start: Position
    end: Position
    cell: int | None = None


FAILS_TOO: Final = "fails here too"
"""The message of a note at another place where the same mistake makes an operation fail."""
SAME_HERE: Final = "the same here"
"""The message of a note at another place where the same mistake is only slow or fragile."""


@dataclass(frozen=True, slots=True)
class Note:
    """One step in the trace of a finding: what happened to a value, and the source region where it happened."""

    message: str
    region: Region


@dataclass(frozen=True, slots=True)
class AssumptionNote:
    """One thing that a finding takes for granted: its kind, a clause that states it, and where the program raises it.

    `region` is None where no single source location raises the question.
    """

    kind: AssumptionKind
    message: str
    region: Region | None


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a source file: the text between the positions `start` and `end` is replaced by `content`.

    `cell` is the notebook cell in which the positions are counted; None outside notebooks.
    """

    content: str
    start: Position
    end: Position
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A set of text edits that resolves a finding, with a message that describes the change and a degree of safety."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class OtherPlace:
    """Another place at which a mistake would be reported, by a rule with a code, if it were not reported elsewhere."""

    code: str
    region: Region
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding in a report: the rule that made it, its region in the source, and its message, trace, advice and fix.

    The trace is a sequence of notes that say how the problem came about, from the oldest step to the newest. The
    assumptions are what the finding takes for granted, and decide its confidence. `since_torch` is the first release of
    torch in which the advice can be followed, such as (2, 9); None where any will do. `refused_since` is the first
    release that refuses the operation, None where all do. `others` are the places at which a run over other files may
    report the same mistake; `entries` are the given files whose analysis gets to it.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    region: Region
    trace: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    fingerprint: str = ""
    assumptions: tuple[AssumptionNote, ...] = ()
    since_torch: tuple[int, ...] | None = None
    refused_since: tuple[int, ...] | None = None
    others: tuple[OtherPlace, ...] = ()
    entries: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, int, Position, str]:
        """The key by which every report sorts its findings: file name, notebook cell, start position, rule code."""
        return (self.region.filename, self.region.cell or 0, self.region.start, self.code)
