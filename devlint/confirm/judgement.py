"""The verdict on a finding: confirmed, refuted, not reached or not buildable, by what a run of its driver shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from devlint.confirm.driver_process import Evidence, Failure
from devlint.diagnostic import OF_CALLERS, AssumptionKind, Diagnostic
from devlint.runtime.report_wording import relative_path


class Verdict(Enum):
    """What a driver shows of a finding; "not-buildable" if there is no driver that runs. The values stand in JSON."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"
    NOT_BUILDABLE = "not-buildable"

    @property
    def words(self) -> str:
        """The verdict as sentences name it: "not buildable"."""
        return self.value.replace("-", " ")


MADE_TRUE = OF_CALLERS | frozenset(
    {
        AssumptionKind.CONSTRUCTED,
        AssumptionKind.CALL_SITES,
        AssumptionKind.UNCAST,
        AssumptionKind.TENSOR,
        AssumptionKind.CALLED,
    }
)
"""What a driver makes true: it moves the module, passes tensors on the accelerator, and builds what it calls itself."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a finding with the reason for it, and the error that was seen, if one was.

    `driver` is the program that shows it, or a command for tests; `origin` tells where that comes from. The error was
    seen at `row` of `filename`.
    """

    finding: Diagnostic
    verdict: Verdict
    reason: str
    driver: str = ""
    origin: str = ""
    error: str = ""
    filename: str | None = None
    row: int | None = None


OF_MOVED_MODULES = frozenset({"DEV103", "DEV104", "DEV105"})
"""The rules whose findings suppose that a module is moved, or that tensors on the accelerator are passed."""


def supposes_moves(finding: Diagnostic) -> bool:
    """Return whether a finding supposes that the caller moves a module or passes tensors on the accelerator.

    Otherwise the code itself does all that the finding is about. A driver that moved things would make up errors, or
    prevent them.
    """
    kinds = {one.kind for one in finding.assumptions}
    return finding.code in OF_MOVED_MODULES or not kinds.isdisjoint(OF_CALLERS)


def can_be_refuted(finding: Diagnostic) -> bool:
    """Return whether a driver makes true all that a finding takes for granted.

    A condition of the program may be one that the driver does not meet, and then the finding was not tried.
    """
    return all(one.kind in MADE_TRUE for one in finding.assumptions)


def judge(finding: Diagnostic, evidence: Evidence, error: Failure | None) -> tuple[Verdict, str]:
    """Return the verdict that a run gives on a finding, and the reason."""
    if evidence.verdict == "confirmed" and evidence.raised is not None:
        if evidence.after_going_on:
            return Verdict.NOT_REACHED, "it was seen only after another error, of which it may be a consequence"
        if evidence.behind:
            return Verdict.NOT_REACHED, "another error came first, which ends a program before this one"
        if not evidence.at_place:
            return Verdict.NOT_REACHED, "its tensor failed at another place, which other arguments may pass"
        if not evidence.told:
            return Verdict.NOT_REACHED, "its error was seen, but not all lines of its story ran"
        return Verdict.CONFIRMED, evidence.detail
    if evidence.errors and (evidence.held or evidence.verdict == "refuted"):
        return Verdict.NOT_REACHED, "another error of devices came first"
    if evidence.verdict == "refuted":
        return Verdict.REFUTED, evidence.detail
    if evidence.held:
        if not can_be_refuted(finding):
            return Verdict.NOT_REACHED, "it ran without an error, but the driver may not meet the finding's condition"
        return Verdict.REFUTED, "all of its story ran on the accelerator, and no operands were on different devices"
    if error is not None:
        return Verdict.NOT_BUILDABLE if not evidence.reached else Verdict.NOT_REACHED, f"the driver ended with {error}"
    return Verdict.NOT_REACHED, (evidence.detail or "the line did not run") + _cause_elsewhere(finding)


def _cause_elsewhere(finding: Diagnostic) -> str:
    """Return where a finding's story begins, if that is in another file, and how to run it; otherwise nothing."""
    here = finding.region.filename
    places = (note.region for note in finding.trace if note.region.filename != here)
    cause = next((place for place in places if place.cell is None), None)
    if cause is None:
        return ""
    file = relative_path(cause.filename)
    return f". The cause is in {file}, line {cause.start.row}: try `devlint run {file}`"
