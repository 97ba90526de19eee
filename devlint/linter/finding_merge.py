"""The choice of the findings to report, among all that the analyses of the given files have made.

Several findings may be one bug: the analyses of several files reach the same operation, and one mistake makes several
operations fail.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from devlint.diagnostic import (
    FAILS_TOO,
    SAME_HERE,
    AssumptionNote,
    Confidence,
    Diagnostic,
    Note,
    OtherPlace,
    Severity,
    confidence_under,
)
from devlint.linter.file_findings import (
    BugKey,
    FileFindings,
    LocatedFinding,
    NodePlace,
    Reached,
    SharedCause,
)


def surest_findings(results: Iterable[FileFindings]) -> list[LocatedFinding]:
    """Return the finding of each rule at each source location that says most; of equal ones, the first.

    It has the origins of all of them, and tells which analyses get to it. A finding is left out where the rule
    withholds it, because the analysis of any file has found the code to be right.
    """
    surest: dict[tuple[str, NodePlace], LocatedFinding] = {}
    withheld: set[tuple[str, NodePlace]] = set()
    for result in results:
        withheld |= result.withheld
        for number, found in enumerate(result.findings):
            one = replace(found, reached=(Reached(result.filename, number),))
            key = one.diagnostic.code, one.place
            known = surest.get(key)
            if known is None:
                surest[key] = one
            else:
                kept = one if _says_more(one, known) else known
                surest[key] = replace(kept, origins=one.origins | known.origins, reached=(*known.reached, *one.reached))
    return [one for key, one in surest.items() if key not in withheld]


def with_assumptions(one: LocatedFinding, assumptions: tuple[AssumptionNote, ...]) -> LocatedFinding:
    """Return a finding that takes these things for granted, instead of its own assumptions."""
    confidence = confidence_under(each.kind for each in assumptions)
    return replace(one, diagnostic=replace(one.diagnostic, assumptions=assumptions, confidence=confidence))


def one_for_each_bug(
    found: Iterable[LocatedFinding], is_silenced: Callable[[Diagnostic], bool], is_script: Callable[[str], bool]
) -> list[LocatedFinding]:
    """Return the findings without duplicates.

    Of the findings that have the same `cause`, or that are of one rule and have the same `subject`, one is kept: of
    those that say most, the one that the program reaches first. It knows the places of the others. Those that a comment
    silences are kept beside it, because a comment at one place says nothing of the others, unless the others are true
    only where the first operation raises. `is_script` tells of a file, by its name, whether it does something when run.
    """
    left = _one_of_each(_without_replaced([*found]), _cause_of, is_silenced, is_script)
    return _one_of_each(left, _subject_of, is_silenced, is_script)


def _cause_of(one: LocatedFinding) -> SharedCause | None:
    """Return the cause that a finding shares with others, also those of other rules."""
    return one.cause


def _subject_of(one: LocatedFinding) -> tuple[str, BugKey] | None:
    """Return the rule and the subject that a finding shares with others."""
    return None if one.subject is None else (one.diagnostic.code, one.subject)


def _one_of_each(
    found: Iterable[LocatedFinding],
    group_of: Callable[[LocatedFinding], Hashable],
    is_silenced: Callable[[Diagnostic], bool],
    is_script: Callable[[str], bool],
) -> list[LocatedFinding]:
    """Return the findings, but of each group only the one to report, and those that a comment silences.

    A finding for which `group_of` returns None is in no group.
    """
    kept: list[LocatedFinding] = []
    groups: defaultdict[Hashable, list[LocatedFinding]] = defaultdict(list)
    for one in found:
        group = group_of(one)
        if group is None:
            kept.append(one)
        else:
            groups[group].append(one)
    for same in groups.values():
        silenced = [one for one in same if len(same) > 1 and _recurs(one) and is_silenced(one.diagnostic)]
        kept += silenced
        left = [one for one in same if one not in silenced]
        if left:
            shown = _first_reached(left, is_script)
            kept.append(_with_places_of([one for one in left if one is not shown], shown))
    return kept


def _first_reached(same: Sequence[LocatedFinding], is_script: Callable[[str], bool]) -> LocatedFinding:
    """Return the finding of one bug to report: of those that say most, the one that the program reaches first.

    That is the order of an analysis that gets to all of them. Where there is none, a finding in the file of the mistake
    comes first, then one that a script gets to.
    """
    least = min(map(_weight, same))
    surest = [one for one in same if _weight(one) == least]
    if len(surest) == 1:
        return surest[0]
    home = _home(surest[0])
    reaching = dict.fromkeys(each.entry for one in surest for each in one.reached)
    common = [name for name in reaching if all(name in (each.entry for each in one.reached) for one in surest)]
    if not common:
        surest = [one for one in surest if one.place.filename == home] or surest
    counts = {name: sum(name in (each.entry for each in one.reached) for one in surest) for name in reaching}
    names = sorted(common or reaching, key=lambda name: (not is_script(name), name != home, -counts[name]))
    ranks = {name: rank for rank, name in enumerate(names)}
    return min(
        surest,
        key=lambda one: min((ranks[each.entry], each.number) for each in one.reached if each.entry in ranks),
    )


def _home(one: LocatedFinding) -> str:
    """Return the name of the file in which the mistake behind a finding was made."""
    for key in (one.subject, one.cause.key if one.cause is not None else None):
        parts = key if isinstance(key, tuple) else (key,)
        found = next((part.filename for part in parts if isinstance(part, NodePlace)), None)
        if found is not None:
            return found
    return one.place.filename


def _recurs(one: LocatedFinding) -> bool:
    """Return whether the other findings of the same bug stay true where this one is not."""
    return one.cause is None or one.cause.recurs


def _with_places_of(others: Sequence[LocatedFinding], shown: LocatedFinding) -> LocatedFinding:
    """Return a finding that knows the places of other findings of the same bug.

    Its trace ends with those at which the same goes wrong even where the reported operation does not raise: of findings
    with the same cause, and of those in other files.
    """
    if not others:
        return shown
    named = {shown.place, *shown.steps}
    also = {one.place: one.diagnostic.region for one in others if one.place not in named and _is_told(one, shown)}
    message = FAILS_TOO if shown.diagnostic.severity is Severity.ERROR else SAME_HERE
    notes = (Note(message, region) for region in also.values())
    diagnostic = replace(shown.diagnostic, trace=(*shown.diagnostic.trace, *notes))
    return _with_others(replace(shown, diagnostic=diagnostic, steps=(*shown.steps, *also)), others)


def _with_others(shown: LocatedFinding, others: Sequence[LocatedFinding]) -> LocatedFinding:
    """Return a finding that records where other findings of the same bug would be reported."""
    known = dict.fromkeys(shown.diagnostic.others)
    for one in others:
        own = OtherPlace(one.diagnostic.code, one.diagnostic.region)
        known |= dict.fromkeys((own, *one.diagnostic.others, *_calls_of(one)))
    return replace(shown, diagnostic=replace(shown.diagnostic, others=tuple(known)))


def with_calls(one: LocatedFinding) -> LocatedFinding:
    """Return a finding that records at which calls a run over other files would report it."""
    known = dict.fromkeys((*one.diagnostic.others, *_calls_of(one)))
    return replace(one, diagnostic=replace(one.diagnostic, others=tuple(known)))


def _calls_of(one: LocatedFinding) -> list[OtherPlace]:
    """Return the calls at which a run over other files would report a finding, in the order of the source."""
    calls = {origin.call for origin in one.origins if origin.call is not None}
    order = sorted(calls, key=lambda region: (region.filename, region.cell or 0, region.start))
    return [OtherPlace(one.diagnostic.code, region) for region in order]


def _is_told(one: LocatedFinding, shown: LocatedFinding) -> bool:
    """Return whether the trace of the finding that is shown names the place of another one of the same bug."""
    if not _recurs(shown):
        return False
    if one.cause is not None and one.cause == shown.cause:
        return True
    if one.place.filename == shown.place.filename:
        return False
    return _weight(one) == _weight(shown) or (
        one.diagnostic.severity is not Severity.INFO and one.diagnostic.confidence is not Confidence.POSSIBLE
    )


def _without_replaced(found: Sequence[LocatedFinding]) -> Iterator[LocatedFinding]:
    """Yield the findings, except those that a finding at the cause of the same bug replaces.

    A finding of a rule with `at_cause` is reported where the tensor was created. It replaces the device conflicts of
    that tensor, and takes the assumptions of the surest among the findings that it replaces.
    """
    causes = {one.place: one for one in found if one.at_cause}
    for one in found:
        known = [key for key in one.subject if key in causes] if isinstance(one.subject, tuple) else []
        for place in known:
            if isinstance(place, NodePlace):
                cause = _with_others(causes[place], [one])
                sure = _is_as_sure(one, cause)
                causes[place] = with_assumptions(cause, one.diagnostic.assumptions) if sure else cause
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
