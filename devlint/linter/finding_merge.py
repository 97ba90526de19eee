"""The choice of the findings to report, among all that the analyses of the given files have made.

Several findings may be one bug: the analyses of several files reach the same operation, and one mistake makes several
operations fail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from devlint.diagnostic import FAILS_TOO, AssumptionNote, Diagnostic, Note, Position, Severity, confidence_under
from devlint.linter.file_findings import BugKey, FileFindings, LocatedFinding, NodePlace, SharedCause


def surest_findings(results: Iterable[FileFindings]) -> list[LocatedFinding]:
    """Return the finding of each rule at each source location that says most; of equal ones, the first.

    It has the origins of all of them. A finding is left out where the rule withholds it, because the analysis of any
    file has found the code to be right.
    """
    surest: dict[tuple[str, NodePlace], LocatedFinding] = {}
    withheld: set[tuple[str, NodePlace]] = set()
    for result in results:
        withheld |= result.withheld
        for one in result.findings:
            key = one.diagnostic.code, one.place
            known = surest.get(key)
            if known is None:
                surest[key] = one
            else:
                kept = one if _says_more(one, known) else known
                surest[key] = replace(kept, origins=one.origins | known.origins)
    return [one for key, one in surest.items() if key not in withheld]


def with_assumptions(one: LocatedFinding, assumptions: tuple[AssumptionNote, ...]) -> LocatedFinding:
    """Return a finding that takes these things for granted, instead of its own assumptions."""
    confidence = confidence_under(each.kind for each in assumptions)
    return replace(one, diagnostic=replace(one.diagnostic, assumptions=assumptions, confidence=confidence))


def one_for_each_bug(
    found: Iterable[LocatedFinding], is_silenced: Callable[[Diagnostic], bool]
) -> list[LocatedFinding]:
    """Return the findings without duplicates.

    Of the findings that have the same `cause`, or that are of one rule and have the same `subject`, one is kept: the
    surest. Those that a comment silences are kept beside it, because a comment at one place says nothing of the others,
    unless the others are true only where the first operation raises.
    """
    first: dict[tuple[str, BugKey], LocatedFinding] = {}
    rest: list[LocatedFinding] = []
    for one in _one_for_each_cause(_without_replaced([*found]), is_silenced):
        if one.subject is None or (_recurs(one) and is_silenced(one.diagnostic)):
            rest.append(one)
            continue
        key = one.diagnostic.code, one.subject
        known = first.get(key)
        if known is None or _preference(one) < _preference(known):
            first[key] = one
    return [*rest, *first.values()]


def _one_for_each_cause(
    found: Iterable[LocatedFinding], is_silenced: Callable[[Diagnostic], bool]
) -> list[LocatedFinding]:
    """Return the findings, but of those with the same `cause` only the surest, and of several the one found first.

    That is the first operation that raises. Where the cause recurs, it is the first that no comment silences; those
    that one silences are kept.
    """
    kept: list[LocatedFinding] = []
    by_cause: dict[SharedCause, list[LocatedFinding]] = defaultdict(list)
    for one in found:
        if one.cause is None:
            kept.append(one)
        else:
            by_cause[one.cause].append(one)
    for cause, same in by_cause.items():
        if cause.recurs and len(same) > 1:
            silenced = [one for one in same if is_silenced(one.diagnostic)]
            kept += silenced
            same = [one for one in same if one not in silenced]
        if same:
            shown, *others = sorted(same, key=lambda one: one.diagnostic.confidence.rank)
            kept.append(_with_places_of(others, shown) if cause.recurs else shown)
    return kept


def _recurs(one: LocatedFinding) -> bool:
    """Return whether the other findings of the same bug stay true where this one is not."""
    return one.cause is None or one.cause.recurs


def _with_places_of(others: Sequence[LocatedFinding], shown: LocatedFinding) -> LocatedFinding:
    """Return a finding whose trace ends with the places of other findings that have the same cause."""
    named = {shown.place, *shown.steps}
    also = {one.place: one.diagnostic.region for one in others if one.place not in named}
    notes = (Note(FAILS_TOO, region) for region in also.values())
    diagnostic = replace(shown.diagnostic, trace=(*shown.diagnostic.trace, *notes))
    return replace(shown, diagnostic=diagnostic, steps=(*shown.steps, *also))


def _without_replaced(found: Sequence[LocatedFinding]) -> Iterator[LocatedFinding]:
    """Yield the findings, except those that a finding at the cause of the same bug replaces.

    A finding of a rule with `at_cause` is reported where the tensor was created. It replaces the device conflicts of
    that tensor, and takes the assumptions of the surest among the findings that it replaces.
    """
    causes = {one.place: one for one in found if one.at_cause}
    for one in found:
        known = [key for key in one.subject if key in causes] if isinstance(one.subject, tuple) else []
        for place in known:
            if isinstance(place, NodePlace) and _is_as_sure(one, causes[place]):
                causes[place] = with_assumptions(causes[place], one.diagnostic.assumptions)
        if not known and not one.at_cause:
            yield one
    yield from causes.values()


def _is_as_sure(one: LocatedFinding, other: LocatedFinding) -> bool:
    """Return whether a finding is at least as sure as another."""
    return one.diagnostic.confidence.at_least(other.diagnostic.confidence)


def _says_more(one: LocatedFinding, other: LocatedFinding) -> bool:
    """Return whether a finding says more than another: it is no mere information, or else it is surer."""
    return _weight(one) < _weight(other)


def _weight(one: LocatedFinding) -> tuple[bool, int]:
    """Return the key by which the finding that says most comes first: a mere information comes last."""
    return one.diagnostic.severity is Severity.INFO, one.diagnostic.confidence.rank


def _preference(one: LocatedFinding) -> tuple[tuple[bool, int], tuple[str, int, Position]]:
    """Return the key by which the finding to be reported comes first: the one that says most, then by the source."""
    region = one.diagnostic.region
    return _weight(one), (region.filename, region.cell or 0, region.start)
