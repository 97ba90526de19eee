"""The join: what became of each static finding when the program ran."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from devlint.diagnostic import Diagnostic, Region, Severity
from devlint.runtime.findings import diagnostic, observed, region_of
from devlint.runtime.recorder import LineRecord, Observation, Recorder


class Verdict(Enum):
    """What the run says of a finding."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_REACHED = "not-reached"
    OBSERVED = "observed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finding with its verdict and the evidence: how often, how many bytes, how long."""

    diagnostic: Diagnostic
    verdict: Verdict
    count: int = 0
    nbytes: int = 0
    seconds: float = 0.0
    detail: str = ""

    @property
    def seen(self) -> bool:
        """Whether it was seen to happen."""
        return self.verdict in (Verdict.CONFIRMED, Verdict.OBSERVED)

    @property
    def fatal(self) -> bool:
        """Whether it is an error that was seen to happen."""
        return self.seen and self.diagnostic.severity is Severity.ERROR


MIXED = frozenset(f"DEV{number}" for number in (101, 102, 103, 104, 105, 107, 113, 114, 115, 201, 202, 203, 407, 604))
DTYPE = frozenset({"DEV301", "DEV302", "DEV303", "DEV304", "DEV305"})
MOVES = frozenset({"DEV303", "DEV306", "DEV401", "DEV402", "DEV405", "DEV406", "DEV408", "DEV409"})
"""Confirmed by a transfer at the place itself."""
EXACT = frozenset({"DEV204", "DEV402", "DEV404", "DEV405", "DEV503"})
"""A transfer alone is no evidence: it has to be of that kind."""
BY_FILE = frozenset({"DEV110", "DEV111"})
"""The first touch ends the worker or the loader, wherever in the file it is."""
BY_RUNNING = frozenset({"DEV601", "DEV602", "DEV603"})
"""True of a line as soon as it runs."""


class Join:
    """Puts static findings and a recording together."""

    def __init__(self, recorder: Recorder, ran: frozenset[tuple[str, int]] = frozenset()) -> None:
        self._groups = observed(recorder)
        self._lines: dict[tuple[str, int], LineRecord] = {
            (real(filename), line): record for (filename, line), record in recorder.lines.items()
        }
        self._ran = {(real(filename), line) for filename, line in ran} | self._lines.keys()
        self._used: set[int] = set()

    def outcomes(self, findings: Sequence[Diagnostic]) -> list[Outcome]:
        """What became of each finding, and what was seen besides, in the order of a report."""
        joined = [self._judge(finding) for finding in findings]
        extra = [
            Outcome(diagnostic(group), Verdict.OBSERVED, len(group))
            for index, group in enumerate(self._groups)
            if index not in self._used
        ]
        return sorted([*joined, *extra], key=lambda outcome: outcome.diagnostic.order)

    def _judge(self, finding: Diagnostic) -> Outcome:
        places = [finding.region, *(note.region for note in finding.trace)]
        groups = [index for index, group in enumerate(self._groups) if self._evidence(finding, places, group[0])]
        if groups:
            self._used.update(groups)
            first = self._groups[groups[0]][0]
            count = sum(len(self._groups[index]) for index in groups)
            return self._tally(finding, Outcome(finding, Verdict.CONFIRMED, count, detail=first.message))
        if finding.code in MOVES | {"DEV403", "DEV407", "DEV410"} and finding.code not in EXACT:
            return self._by_transfers(finding)
        if not all(self._reached(place) for place in places):
            return Outcome(finding, Verdict.NOT_REACHED)
        if finding.code in BY_RUNNING:
            return Outcome(finding, Verdict.CONFIRMED, 1, detail="this line ran")
        return Outcome(finding, Verdict.REFUTED, detail="the lines ran, and nothing of the kind was seen")

    def _evidence(self, finding: Diagnostic, places: list[Region], seen: Observation) -> bool:
        same = finding.code == seen.code
        for family in (MIXED, DTYPE):
            same = same or (finding.code in family and seen.code in family and seen.raised is not None)
        if not same:
            return False
        sites = [seen.site, *seen.through, *(step.site for step in seen.steps if step.site is not None)]
        where = [region_of(site) for site in sites]
        if seen.code in BY_FILE:
            return bool({real(place.filename) for place in places} & {real(other.filename) for other in where})
        return any(_meet(place, other) for place in places for other in where)

    def _by_transfers(self, finding: Diagnostic) -> Outcome:
        records = [record for key in _keys(finding.region) if (record := self._lines.get(key)) is not None]
        outcome = self._tally(finding, Outcome(finding, Verdict.CONFIRMED))
        stays = sum(tally.count for r in records for kind, tally in r.transfers.items() if kind.source == kind.target)
        waits = sum(tally.count for r in records for tally in r.waits.values())
        if finding.code == "DEV407":
            if outcome.count:
                return Outcome(finding, Verdict.REFUTED, outcome.count, outcome.nbytes, detail="it did move something")
            if stays:
                return Outcome(finding, Verdict.CONFIRMED, stays, detail="nothing had to be moved")
        elif finding.code in ("DEV403", "DEV410"):
            if waits or outcome.count:
                return Outcome(finding, Verdict.CONFIRMED, waits or outcome.count, detail="the host waited here")
        elif outcome.count:
            return outcome
        if not self._reached(finding.region):
            return Outcome(finding, Verdict.NOT_REACHED)
        return Outcome(finding, Verdict.REFUTED, detail="the line ran, and nothing was moved")

    def _tally(self, finding: Diagnostic, outcome: Outcome) -> Outcome:
        """Add what was moved at the finding's own lines."""
        tallies = [
            tally
            for key in _keys(finding.region)
            if (record := self._lines.get(key)) is not None
            for kind, tally in record.transfers.items()
            if kind.source != kind.target
        ]
        return Outcome(
            finding,
            outcome.verdict,
            outcome.count or sum(tally.count for tally in tallies),
            sum(tally.nbytes for tally in tallies),
            sum(tally.seconds for tally in tallies),
            outcome.detail,
        )

    def _reached(self, region: Region) -> bool:
        return any(key in self._ran for key in _keys(region))


@lru_cache(None)
def real(filename: str) -> str:
    """One name for each file."""
    return os.path.realpath(filename)


def _keys(region: Region) -> list[tuple[str, int]]:
    return [(real(region.filename), row) for row in range(region.start.row, region.end.row + 1)]


def _meet(left: Region, right: Region) -> bool:
    if real(left.filename) != real(right.filename):
        return False
    return left.start.row <= right.end.row and right.start.row <= left.end.row
