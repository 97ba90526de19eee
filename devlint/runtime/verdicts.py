"""Verdicts on findings of the static analysis: whether the recording of a program run confirms or refutes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from devlint.diagnostic import Diagnostic, Region, Severity
from devlint.runtime.failure_places import failure_region
from devlint.runtime.observation_diagnostics import diagnostic_of, grouped_observations, region_of
from devlint.runtime.observation_matching import (
    MIXED_DEVICE_CODES,
    FileLine,
    canonical_path,
    covers,
    lines_of,
    overlaps,
    shows_finding,
)
from devlint.runtime.recorder import LineRecord, Recorder, TransferTally


class Verdict(Enum):
    """What a program run says about a finding of the static analysis.

    "Observed" is the verdict on a problem that happened in the run without such a finding.
    """

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"
    OBSERVED = "observed"

    @property
    def words(self) -> str:
        """The verdict as sentences name it: "not reached". The value stands in JSON."""
        return self.value.replace("-", " ")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finding with the verdict of a program run and the evidence for the verdict.

    `count` is how often the finding was seen in the run, `nbytes` and `seconds` what it cost; `detail` says what was
    seen, and `place` is the source region where it was seen. `raised` is the name of the exception's type, or None if
    nothing was raised. `after_going_on` tells that it was seen only with what came from an operator that had failed, so
    that it may be a consequence of going on.
    """

    diagnostic: Diagnostic
    verdict: Verdict
    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0
    detail: str = ""
    place: Region | None = None
    raised: str | None = None
    after_going_on: bool = False

    @property
    def seen(self) -> bool:
        """Return whether the finding was seen to happen in the run: its verdict is "confirmed" or "observed"."""
        return self.verdict in (Verdict.CONFIRMED, Verdict.OBSERVED)

    @property
    def fatal(self) -> bool:
        """Return whether this is a finding of severity "error" that was seen to happen in the run."""
        return self.seen and self.diagnostic.severity is Severity.ERROR


CONFIRMED_BY_TRANSFER = frozenset({"DEV202", "DEV203", "DEV303", "DEV306", "DEV401", "DEV406", "DEV408", "DEV409"})
"""Rules that are confirmed by a transfer at the finding's own lines."""
CONFIRMED_BY_WAIT = frozenset({"DEV403", "DEV410"})
"""Rules that are confirmed by a wait of the host at the finding's own lines."""
SHOWN_ON_HOST = frozenset({"DEV112", "DEV117", "DEV301", "DEV302", "DEV304", "DEV305"})
"""Rules that a run on the host can confirm or refute as well."""
CONFIRMED_BY_EXECUTION = frozenset({"DEV601", "DEV602", "DEV603"})
"""Rules that are confirmed as soon as the line runs."""
CONFIRMED_WITHOUT_CUDA = frozenset({"DEV605", "DEV611"})
"""Rules that are confirmed as soon as the line runs on a device that is not CUDA: what it calls is without effect."""

REFUTED_WITHOUT_CUDA = frozenset({"DEV610"})
"""Rules about code that fails without CUDA: they are refuted where the line runs to its end there."""
FAILS_WITHOUT_ACCELERATOR = frozenset({"DEV607"})
"""Rules about code that fails where torch knows no accelerator: how the line ends there confirms or refutes them."""


class FindingVerifier:
    """Judge of the findings of the static analysis: compares each with the recording of a program run.

    `ran` are the lines that ran. `without_cuda` tells that the program ran where there is no CUDA, and
    `without_accelerator` that torch knew of no accelerator.
    """

    def __init__(
        self,
        recorder: Recorder,
        ran: frozenset[FileLine] = frozenset(),
        *,
        without_cuda: bool = False,
        without_accelerator: bool = False,
    ) -> None:
        self._without_effect = CONFIRMED_WITHOUT_CUDA if without_cuda else frozenset[str]()
        self._must_fail = REFUTED_WITHOUT_CUDA if without_cuda else frozenset[str]()
        self._must_fail |= FAILS_WITHOUT_ACCELERATOR if without_accelerator else frozenset[str]()
        # Where CUDA is emulated, torch may lack NCCL, which a real machine has: that is no fault of the program.
        groups = grouped_observations(recorder)
        self._groups = [one for one in groups if without_cuda or one[0].code not in REFUTED_WITHOUT_CUDA]
        self._lines: dict[FileLine, LineRecord] = {
            (canonical_path(filename), line): record for (filename, line), record in recorder.lines.items()
        }
        self._expressions: dict[FileLine, list[LineRecord]] = {}
        for site, record in recorder.expressions.items():
            for line in range(site.line, site.last_line + 1):
                self._expressions.setdefault((canonical_path(site.filename), line), []).append(record)
        self._mixed = recorder.mixed_operands
        self._knows_lines = bool(ran)
        self._ran = {(canonical_path(filename), line) for filename, line in ran} | self._lines.keys()
        self._interrupted = {(canonical_path(filename), line) for filename, line in recorder.interrupted}
        self._used: set[int] = set()

    def outcomes(self, findings: Sequence[Diagnostic]) -> list[Outcome]:
        """Return every finding with its verdict, and the observed problems that no finding predicted.

        They are sorted in the order in which a report shows them.
        """
        joined = [self._judge(finding) for finding in findings]
        extra = [
            Outcome(
                diagnostic_of(group),
                Verdict.OBSERVED,
                len(group),
                raised=group[0].raised,
                after_going_on=all(one.after_going_on for one in group),
            )
            for index, group in enumerate(self._groups)
            if index not in self._used
        ]
        return sorted([*joined, *extra], key=lambda outcome: outcome.diagnostic.order)

    def _judge(self, finding: Diagnostic) -> Outcome:
        """Return a finding of the static analysis with the verdict that the recording of the run gives."""
        groups = [index for index, group in enumerate(self._groups) if shows_finding(finding, group[0])]
        if groups:
            self._used.update(groups)
            first = self._groups[groups[0]][0]
            # An error of another rule is what the finding led to later, and not the finding once more.
            own = [index for index in groups if self._groups[index][0].code == finding.code]
            count = sum(len(self._groups[index]) for index in self._at_one_place(own or groups))
            if finding.code in CONFIRMED_BY_WAIT:
                count = self._by_waits(finding).count or count  # the groups are counted by line
            raised = f"{first.raised}: " if first.raised else ""
            place = region_of(first.site) if first.site is not None else None
            return self._with_transfers(
                Outcome(
                    finding,
                    Verdict.CONFIRMED,
                    count,
                    detail=f"{raised}{first.message}",
                    place=place,
                    raised=first.raised,
                    after_going_on=all(one.after_going_on for index in groups for one in self._groups[index]),
                )
            )
        if finding.code in CONFIRMED_BY_TRANSFER or finding.code == "DEV407":
            return self._by_transfers(finding)
        if finding.code in CONFIRMED_BY_WAIT:
            return self._by_waits(finding)
        missing = self._not_reached(finding)
        if missing is not None:
            return missing
        if finding.code in self._must_fail:
            return self._by_its_end(finding)
        if finding.code in CONFIRMED_BY_EXECUTION:
            return Outcome(finding, Verdict.CONFIRMED, 1, detail="this line ran")
        if finding.code in self._without_effect:
            return Outcome(finding, Verdict.CONFIRMED, 1, detail="this line ran without CUDA, and did nothing there")
        if finding.code not in MIXED_DEVICE_CODES:
            return Outcome(finding, Verdict.NOT_REACHED, detail="this line ran, and nothing of the kind was seen")
        place = failure_region(finding)
        if any(covers(site, place) for site in self._mixed):
            return Outcome(finding, Verdict.REFUTED, detail="this took operands on different devices without an error")
        detail = f"{_line_text(place, finding.region)} ran, but never with operands on different devices"
        return Outcome(finding, Verdict.NOT_REACHED, detail=detail)

    def _at_one_place(self, groups: Sequence[int]) -> list[int]:
        """Return the groups of errors at the place of the first: the others are what the same mistake led to later.

        What nothing was raised for is counted wherever it was seen.
        """
        first = self._groups[groups[0]][0]
        return [index for index in groups if first.raised is None or self._groups[index][0].site == first.site]

    def _by_its_end(self, finding: Diagnostic) -> Outcome:
        """Return a finding about a line that must fail on these devices, judged by how the line ended."""
        if any(row in self._interrupted for row in lines_of(failure_region(finding))):
            return Outcome(finding, Verdict.CONFIRMED, 1, detail="an error ended this line, without an accelerator")
        return Outcome(finding, Verdict.REFUTED, detail="this line ran to its end on such devices")

    def _by_transfers(self, finding: Diagnostic) -> Outcome:
        """Return a finding judged by the transfers that were recorded at its lines.

        A copy to another device there confirms the finding, and a transfer without one confirms DEV407 (a transfer that
        moves nothing). Otherwise the run did not come to what the finding claims, even if the line ran.
        """
        moved = self._with_transfers(Outcome(finding, Verdict.CONFIRMED))
        stays = sum(
            tally.count
            for record in self._records_of_expressions(finding.region)
            for kind, tally in record.transfers.items()
            if kind.source == kind.target
        )
        detail = "this line ran, and nothing was moved"
        if finding.code == "DEV407":
            if stays:
                return Outcome(finding, Verdict.CONFIRMED, stays, detail="nothing had to be moved")
            if moved.count:
                detail = "this line ran, and it did move something"
        elif moved.count:
            return moved
        return self._not_reached(finding) or Outcome(finding, Verdict.NOT_REACHED, detail=detail)

    def _by_waits(self, finding: Diagnostic) -> Outcome:
        """Return a finding judged by the waits of the host that were recorded at its lines.

        A wait or a transfer there confirms the finding. Otherwise the run did not come to what the finding claims, even
        if the line ran.
        """
        moved = self._with_transfers(Outcome(finding, Verdict.CONFIRMED, detail="the host waited here"))
        records = self._records_of_expressions(finding.region)
        tallies = [tally for record in records for tally in record.waits.values()]
        if tallies:
            seconds = sum(tally.seconds for tally in tallies)
            return replace(moved, count=sum(tally.count for tally in tallies), seconds=moved.seconds + seconds)
        if moved.count:
            return moved
        idle = Outcome(finding, Verdict.NOT_REACHED, detail="this line ran, and the host did not wait")
        return self._not_reached(finding) or idle

    def _not_reached(self, finding: Diagnostic) -> Outcome | None:
        """Return the finding with the verdict "not reached" if the run says nothing about it, otherwise None.

        That is so if the line where it would show did not run, ran on the host only, or was left early because of an
        error.
        """
        place = failure_region(finding)
        there = lines_of(place)
        if not any(row in self._ran for row in there):
            detail = f"{_line_text(place, finding.region)} did not run" if self._knows_lines else "no operator ran here"
            return Outcome(finding, Verdict.NOT_REACHED, detail=detail)
        ends_there = finding.code in FAILS_WITHOUT_ACCELERATOR & self._must_fail
        if not ends_there and any(row in self._interrupted for row in there):
            return Outcome(finding, Verdict.NOT_REACHED, detail="an error ended this line before")
        anywhere = SHOWN_ON_HOST | CONFIRMED_BY_EXECUTION | self._without_effect | self._must_fail
        if finding.code not in anywhere and not any(
            record.used_device for record in self._records(failure_region(finding))
        ):
            detail = f"{_line_text(place, finding.region)} ran on the host only"
            return Outcome(finding, Verdict.NOT_REACHED, detail=detail)
        return None

    def _with_transfers(self, outcome: Outcome) -> Outcome:
        """Return a judged finding with the number, bytes and seconds of the transfers at its source lines as evidence.

        The number of transfers becomes the finding's count only if that was 0.
        """
        tallies: list[TransferTally] = [
            tally
            for record in self._records_of_expressions(outcome.diagnostic.region)
            for kind, tally in record.transfers.items()
            if kind.source != kind.target
        ]
        return replace(
            outcome,
            count=outcome.count or sum(tally.count for tally in tallies),
            nbytes=sum(tally.nbytes for tally in tallies),
            seconds=sum(tally.seconds for tally in tallies),
        )

    def _records_of_expressions(self, region: Region) -> list[LineRecord]:
        """Return what the recorder counted for the expressions that overlap a source region, one record for each."""
        found = {record.site: record for row in lines_of(region) for record in self._expressions.get(row, ())}
        return [record for site, record in found.items() if overlaps(site, region)]

    def _records(self, region: Region) -> list[LineRecord]:
        """Return what the recorder counted for the lines of a source region, one record for each line that has any."""
        return [record for row in lines_of(region) if (record := self._lines.get(row)) is not None]


def _line_text(place: Region, shown: Region) -> str:
    """Return how a report that shows one source region names the line of another, where the finding would fail."""
    if place.filename != shown.filename:
        return f"line {place.start.row} of {Path(place.filename).name}"
    return "this line" if place.start.row == shown.start.row else f"line {place.start.row}"
