"""Conversion of the rules' findings into diagnostics: compute rows and columns, remove duplicates, apply suppressions.

A finding refers to syntax nodes; a diagnostic has positions in the source text. A suppression is a comment that
silences findings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cache
from typing import TypeAlias

import libcst as cst

from devlint.diagnostic import (
    AssumptionKind,
    AssumptionNote,
    Confidence,
    Diagnostic,
    Fix,
    Note,
    Position,
    Region,
    Severity,
)
from devlint.domain.placement import Assumption, Place, Step, StepKind
from devlint.explain.causes import Cause
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.rule_loader import find_rule
from devlint.linter.rule_runner import RuleFinding, RuleRunner
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unused_suppressions import UNUSED_CODE, FindingRows, unused_suppressions
from devlint.rule import Finding, Rule
from devlint.rule_metadata import rule_url
from devlint.syntax.index import FileIndex, Statement
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import SourceError
from devlint.syntax.suppressions import find_suppressions, may_suppress

BROKEN_FILE_CODE = "DEV900"
"""The code of the rule for files that do not parse."""

DEVELOPMENT_CODES = frozenset({BROKEN_FILE_CODE, "DEV901", "DEV902"})
"""The codes of the rules about devlint itself, which ask for no caller."""


ErrorContainment: TypeAlias = Callable[[str, str], AbstractContextManager[None]]
"""A function from a filename and a task to a context manager, which records exceptions so that other work continues."""


def diagnostics_of(collector: RuleRunner, program: Program, contained: ErrorContainment) -> tuple[Diagnostic, ...]:
    """Return the sorted diagnostics of a run: all findings of the rules in the given files that no comment suppresses.

    `collector` has the findings, and `contained` records exceptions of code that makes fixes, so that the run goes on.
    """
    given = {module.filename: module for path in program.given_paths if (module := program.load(path)) is not None}
    found = [one for one in collector.findings() if one.finding.place.filename in given]
    regions = _regions(found, program)
    found = [*_with_callers(found, given, regions, UncalledDefinitions(program))]

    @cache
    def context_of(filename: str) -> FixContext:
        return FixContext(given[filename].index)

    reported = [
        _diagnostic(one.rule, one.finding, regions, context_of(one.finding.place.filename), contained)
        for one in _one_for_each_bug(found, regions)
    ]
    reported += [broken_file_diagnostic(filename, error) for filename, error in collector.broken_files]
    kept = _unsuppressed(reported, given, context_of, collector.codes)
    return tuple(sorted(kept, key=lambda one: one.order))


def _with_callers(
    found: Iterable[RuleFinding],
    given: Mapping[str, ModuleInfo],
    regions: Mapping[Place, Region],
    uncalled: UncalledDefinitions,
) -> Iterator[RuleFinding]:
    """Yield the findings; those in code that nothing in its project calls assume that somebody calls it."""
    for one in found:
        place = one.finding.place
        asked = place in regions and one.rule.code not in DEVELOPMENT_CODES
        name = uncalled.name_at(given[place.filename], regions[place].start.row) if asked else None
        if name is not None:
            assumed = Assumption(AssumptionKind.CALLED, f"somebody calls `{name}`")
            one = replace(one, finding=replace(one.finding, assumptions=(*one.finding.assumptions, assumed)))
        yield one


def _one_for_each_bug(found: Iterable[RuleFinding], regions: dict[Place, Region]) -> list[RuleFinding]:
    """Return the findings without duplicates.

    Of the findings that have the same `cause`, or that are of one rule and have the same `subject`, one is kept: the
    surest.
    """
    first: dict[Hashable, RuleFinding] = {}
    rest: list[RuleFinding] = []
    located = [one for one in found if one.finding.place in regions]
    for one in _one_for_each_cause(_without_replaced(located)):
        if one.finding.subject is None:
            rest.append(one)
            continue
        key = (one.rule.code, one.finding.subject)
        known = first.get(key)
        if known is None or _preference(one, regions) < _preference(known, regions):
            first[key] = one
    return [*rest, *first.values()]


def _one_for_each_cause(found: Iterable[RuleFinding]) -> list[RuleFinding]:
    """Return the findings, but of those with the same `cause` only the surest, and of several the one found first.

    That is the first operation that raises.
    """
    kept: list[RuleFinding] = []
    by_cause: dict[Cause, list[RuleFinding]] = defaultdict(list)
    for one in found:
        if one.finding.cause is None:
            kept.append(one)
        else:
            by_cause[one.finding.cause].append(one)
    for cause, same in by_cause.items():
        shown, *others = sorted(same, key=lambda one: one.finding.confidence.rank)
        kept.append(_with_places_of(others, shown) if cause.recurs else shown)
    return kept


def _with_places_of(others: Sequence[RuleFinding], shown: RuleFinding) -> RuleFinding:
    """Return a finding whose trace ends with the places of other findings that have the same cause."""
    trace = shown.finding.trace
    named = {shown.finding.place, *(step.place for step in trace)}
    places = dict.fromkeys(one.finding.place for one in others if one.finding.place not in named)
    also = (Step(StepKind.PASSED, "fails here too", place) for place in places)
    return replace(shown, finding=replace(shown.finding, trace=(*trace, *also)))


def _without_replaced(found: Sequence[RuleFinding]) -> Iterator[RuleFinding]:
    """Yield the findings, except those that a finding at the cause of the same bug replaces.

    A finding of a rule with `at_cause` is reported where the tensor was created. It replaces the device conflicts of
    that tensor, and takes the assumptions of the surest among the findings that it replaces.
    """
    causes = {one.finding.place: one for one in found if one.rule.at_cause}
    for one in found:
        subject = one.finding.subject
        known = [place for place in subject if place in causes] if isinstance(subject, tuple) else []
        for place in known:
            if one.finding.confidence.at_least(causes[place].finding.confidence):
                finding = replace(causes[place].finding, assumptions=one.finding.assumptions)
                causes[place] = replace(causes[place], finding=finding)
        if not known and not one.rule.at_cause:
            yield one
    yield from causes.values()


def _preference(one: RuleFinding, regions: dict[Place, Region]) -> tuple[int, tuple[str, int, Position]]:
    """Return the key by which the finding to be reported comes first: the surest, and then the first in the source."""
    return one.finding.confidence.rank, _order(one, regions)


def _order(one: RuleFinding, regions: dict[Place, Region]) -> tuple[str, int, Position]:
    """Return the key by which findings are sorted: file name, notebook cell and start position."""
    region = regions[one.finding.place]
    return region.filename, region.cell or 0, region.start


def _regions(found: Iterable[RuleFinding], program: Program) -> dict[Place, Region]:
    """Return the source region of every syntax node to which a finding, its trace or its assumptions refer.

    Each top-level statement is read only once.
    """
    wanted: dict[tuple[str, int], set[Place]] = defaultdict(set)
    for one in found:
        finding = one.finding
        assumed = (each.place for each in finding.assumptions if each.place is not None)
        for place in (finding.place, *(step.place for step in finding.trace), *assumed):
            wanted[place.filename, id(place.unit)].add(place)
    regions: dict[Place, Region] = {}
    for (filename, _), places in wanted.items():
        module = program.by_filename(filename)
        unit = next(iter(places)).unit
        if module is None or not isinstance(unit, Statement):
            continue
        nodes = {place.node: place for place in places if isinstance(place.node, cst.CSTNode)}
        for node, (start, end) in _positions_of(unit, list(nodes), module.index).items():
            regions[nodes[node]] = module.source.region(start, end)
    return regions


def _positions_of(
    unit: Statement, nodes: Sequence[cst.CSTNode], index: FileIndex
) -> Mapping[cst.CSTNode, tuple[Position, Position]]:
    """Return the start and end position of each of the given syntax nodes, which are parts of one top-level statement.

    If the statement is nested too deeply to compute them, every node gets the position at which the statement starts.
    """
    try:
        return node_positions(unit, nodes, index)
    except SourceError:
        beginning = index.lines.position(unit.start)
        return dict.fromkeys(nodes, (beginning, beginning))


def _diagnostic(
    rule: type[Rule], finding: Finding, regions: dict[Place, Region], context: FixContext, contained: ErrorContainment
) -> Diagnostic:
    """Return the diagnostic for a finding of a rule: its syntax nodes are replaced by regions of the source text."""
    notes = tuple(Note(step.message, regions[step.place]) for step in finding.trace if step.place in regions)
    assumed = tuple(
        AssumptionNote(each.kind, each.message, regions.get(each.place) if each.place is not None else None)
        for each in finding.assumptions
    )
    return Diagnostic(
        rule.code,
        rule.name,
        finding.severity or rule.severity,
        finding.confidence,
        finding.message,
        regions[finding.place],
        notes,
        finding.help,
        _fix(finding, context, contained),
        url=rule_url(rule.name),
        assumptions=assumed,
    )


def _fix(finding: Finding, context: FixContext, contained: ErrorContainment) -> Fix | None:
    """Return the fix of a finding; None if the finding has no fix, or if the code that makes the fix fails."""
    if finding.make_fix is None:
        return None
    with contained(finding.place.filename, "a fix"), suppress(NoFix, SourceError):
        return finding.make_fix(context)
    return None


def broken_file_diagnostic(filename: str, error: SourceError) -> Diagnostic:
    """Return the diagnostic (DEV900) for a file, or a part of a file, that cannot be read or parsed."""
    rule = find_rule(BROKEN_FILE_CODE)
    name = rule.name if rule is not None else "broken-file"
    place = Position(error.row, error.column)
    region = Region(filename, place, place, error.cell)
    return Diagnostic(
        BROKEN_FILE_CODE, name, Severity.ERROR, Confidence.CERTAIN, error.message, region, url=rule_url(name)
    )


def _unsuppressed(
    reported: Iterable[Diagnostic],
    given: Mapping[str, ModuleInfo],
    context_of: Callable[[str], FixContext],
    codes: frozenset[str],
) -> list[Diagnostic]:
    """Return the diagnostics that no suppression comment silences.

    If the rule for unused suppressions is selected, also return a diagnostic for each comment that silences nothing.
    """
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in reported:
        by_file[one.region.filename].append(one)
    kept: list[Diagnostic] = []
    marked = (name for name, module in given.items() if may_suppress(module.source.text))
    for filename in {*by_file, *(marked if UNUSED_CODE in codes else ())}:
        found, module = by_file[filename], given.get(filename)
        if module is None:
            kept += found
            continue
        source = module.source
        suppressions = find_suppressions(source, module.index)
        rows = [FindingRows.of(one, source) for one in found]
        kept += [one for one, row in zip(found, rows, strict=True) if not row.is_silenced_by(suppressions)]
        if UNUSED_CODE in codes:
            kept += unused_suppressions(context_of(filename), suppressions, rows, codes)
    return kept
