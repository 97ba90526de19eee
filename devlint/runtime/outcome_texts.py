"""Judged findings as reports show them: with their evidence, with relative paths, and as single lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from devlint.diagnostic import Confidence, Diagnostic, Note, Region, Severity
from devlint.runtime.report_wording import apart_from_tests, format_bytes, format_duration, place_text, relative_path
from devlint.runtime.verdicts import Outcome, Verdict

CONSEQUENCE = "seen after going on from an earlier error, of which it may be a consequence"
"""What is said of a problem that was seen with operands that come from an operator that had failed."""


def with_evidence(outcome: Outcome) -> Diagnostic:
    """Return the diagnostic of a judged finding, with verdict and evidence in an additional last trace note.

    What a run has confirmed is certain. The diagnostic of a problem that only the run showed is returned as it is,
    unless it may be a consequence.
    """
    found = outcome.diagnostic
    if outcome.verdict is Verdict.OBSERVED:
        if not outcome.after_going_on:
            return found
        return replace(found, trace=(*found.trace, Note(CONSEQUENCE, found.region)))
    doubt = [CONSEQUENCE] if outcome.after_going_on else []
    verdict_text = ", ".join([outcome.verdict.value, *evidence_texts(outcome), *doubt])
    note = Note(f"{verdict_text}: {outcome.detail}" if outcome.detail else verdict_text, outcome.place or found.region)
    sure = Confidence.CERTAIN if outcome.verdict is Verdict.CONFIRMED else found.confidence
    return replace(found, trace=(*found.trace, note), confidence=sure)


def evidence_texts(outcome: Outcome) -> Iterator[str]:
    """Yield texts that tell how often a finding was seen in a run and how many bytes and seconds it cost.

    A number is left out if it tells nothing: a count below two, no bytes, no seconds.
    """
    if outcome.count > 1:
        yield f"{outcome.count} times"
    if outcome.nbytes:
        yield format_bytes(outcome.nbytes)
    if outcome.seconds:
        yield format_duration(outcome.seconds)


def with_relative_paths(found: Diagnostic) -> Diagnostic:
    """Return a copy of a diagnostic whose file names are relative to the current directory where possible."""

    def renamed(region: Region) -> Region:
        return replace(region, filename=relative_path(region.filename))

    trace = tuple(Note(note.message, renamed(note.region)) for note in found.trace)
    return replace(found, region=renamed(found.region), trace=trace)


@dataclass(frozen=True, slots=True)
class SeenSite:
    """All that one rule saw at one source line: the first of the findings there, and how often in all."""

    outcome: Outcome
    count: int

    @property
    def text(self) -> str:
        """Return the site as a line of a report: severity, rule, place, how often, and the message."""
        found = self.outcome.diagnostic
        facts = [self.outcome.verdict.value] if self.outcome.verdict is Verdict.CONFIRMED else []
        facts += [f"{self.count} times"] if self.count > 1 else []
        facts += ["after going on"] if self.outcome.after_going_on else []
        told = f" ({', '.join(facts)})" if facts else ""
        message = found.message.removesuffix(f" ({self.outcome.count} times)")
        return f"{found.severity.value}[{found.code}] {found.name}: {place_text(found.region)}{told}: {message}"


def by_site(outcomes: Iterable[Outcome]) -> list[SeenSite]:
    """Return findings that were seen in a run by rule and source line, errors first, then those seen most often."""
    groups: dict[tuple[str, str, int], list[Outcome]] = {}
    for outcome in outcomes:
        region = outcome.diagnostic.region
        groups.setdefault((outcome.diagnostic.code, region.filename, region.start.row), []).append(outcome)
    sites = [SeenSite(group[0], sum(max(1, outcome.count) for outcome in group)) for group in groups.values()]
    ranks = list(Severity)
    return sorted(
        sites,
        key=lambda site: (
            ranks.index(site.outcome.diagnostic.severity),
            -site.count,
            site.outcome.diagnostic.order,
        ),
    )


def seen_apart_from_tests(outcomes: Iterable[Outcome]) -> tuple[list[Outcome], list[Outcome]]:
    """Return what was seen to happen in a run outside of test files, and in test files."""
    seen = [outcome for outcome in outcomes if outcome.seen]
    return apart_from_tests(seen, lambda outcome: outcome.diagnostic.region.filename)
