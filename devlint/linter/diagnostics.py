"""From findings to diagnostics: places become rows and columns, suppressions are honoured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import TypeAlias

import libcst as cst

from devlint.diagnostic import Confidence, Diagnostic, Fix, Note, Position, Region, Severity
from devlint.domain.placement import Place
from devlint.fixes.sheet import FixContext, NoFix
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.rule_loader import find_rule
from devlint.linter.rule_runner import RuleFinding, RuleRunner
from devlint.linter.unused_suppressions import UNUSED, FindingRows, unused_suppressions
from devlint.rule import Finding, Rule
from devlint.rule_metadata import rule_url
from devlint.syntax.index import FileIndex, Statement
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import SourceError
from devlint.syntax.suppressions import find_suppressions

BROKEN = "DEV900"


Contained: TypeAlias = Callable[[str, str], AbstractContextManager[None]]
"""Keeps an exception in some part of the work on a file from losing the rest."""


def diagnostics_of(collector: RuleRunner, program: Program, contained: Contained) -> tuple[Diagnostic, ...]:
    """Every finding in a given file that nothing suppresses, sorted."""
    given = {module.filename: module for path in program.given if (module := program.load(path)) is not None}
    found = [one for one in collector.findings() if one.finding.place.filename in given]
    regions = _regions(found, program)
    sheets = {filename: FixContext(module.index) for filename, module in given.items()}
    reported = [
        _diagnostic(one.rule, one.finding, regions, sheets[one.finding.place.filename], contained)
        for one in _one_for_each_bug(found, regions)
    ]
    reported += [broken_file_diagnostic(filename, error) for filename, error in collector.broken_files]
    kept = _sifted(reported, given, sheets, collector.codes)
    return tuple(sorted(kept, key=lambda one: one.order))


def _one_for_each_bug(found: Iterable[RuleFinding], regions: dict[Place, Region]) -> list[RuleFinding]:
    """Of the findings a rule makes of one subject, the first in the file."""
    first: dict[Hashable, RuleFinding] = {}
    rest: list[RuleFinding] = []
    for one in _told_once([one for one in found if one.finding.place in regions]):
        if one.finding.subject is None:
            rest.append(one)
            continue
        key = (one.rule.code, one.finding.subject)
        known = first.get(key)
        if known is None or _order(one, regions) < _order(known, regions):
            first[key] = one
    return [*rest, *first.values()]


def _told_once(found: Sequence[RuleFinding]) -> Iterator[RuleFinding]:
    """The findings without those of which another stands at the cause, which is then as sure as they are."""
    causes = {one.finding.place: one for one in found if one.rule.at_cause}
    for one in found:
        subject = one.finding.subject
        known = [place for place in subject if place in causes] if isinstance(subject, tuple) else []
        for place in known:
            if one.finding.confidence.at_least(causes[place].finding.confidence):
                finding = replace(causes[place].finding, confidence=one.finding.confidence)
                causes[place] = replace(causes[place], finding=finding)
        if not known and not one.rule.at_cause:
            yield one
    yield from causes.values()


def _order(one: RuleFinding, regions: dict[Place, Region]) -> tuple[str, int, Position]:
    region = regions[one.finding.place]
    return region.filename, region.cell or 0, region.start


def _regions(found: Iterable[RuleFinding], program: Program) -> dict[Place, Region]:
    """The region of every place that findings and their stories speak of, one pass over each statement."""
    wanted: dict[tuple[str, int], set[Place]] = defaultdict(set)
    for one in found:
        for place in (one.finding.place, *(step.place for step in one.finding.trace)):
            wanted[place.filename, id(place.unit)].add(place)
    regions: dict[Place, Region] = {}
    for (filename, _), places in wanted.items():
        module = program.by_filename(filename)
        unit = next(iter(places)).unit
        if module is None or not isinstance(unit, Statement):
            continue
        nodes = {place.node: place for place in places if isinstance(place.node, cst.CSTNode)}
        for node, (start, end) in _located(unit, list(nodes), module.index).items():
            regions[nodes[node]] = module.index.source.region(start, end)
    return regions


def _located(
    unit: Statement, nodes: Sequence[cst.CSTNode], index: FileIndex
) -> Mapping[cst.CSTNode, tuple[Position, Position]]:
    """Where the nodes stand; where their statement begins, if it is nested too deeply to tell."""
    try:
        return node_positions(unit, nodes, index)
    except SourceError:
        beginning = index.lines.position(unit.start)
        return dict.fromkeys(nodes, (beginning, beginning))


def _diagnostic(
    rule: type[Rule], finding: Finding, regions: dict[Place, Region], context: FixContext, contained: Contained
) -> Diagnostic:
    notes = tuple(Note(step.message, regions[step.place]) for step in finding.trace if step.place in regions)
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
    )


def _fix(finding: Finding, context: FixContext, contained: Contained) -> Fix | None:
    if finding.make_fix is None:
        return None
    with contained(finding.place.filename, "a fix"), suppress(NoFix, SourceError):
        return finding.make_fix(context)
    return None


def broken_file_diagnostic(filename: str, error: SourceError) -> Diagnostic:
    """The finding that a file, or a part of it, does not parse."""
    rule = find_rule(BROKEN)
    name = rule.name if rule is not None else "broken-file"
    place = Position(error.row, error.column)
    region = Region(filename, place, place, error.cell)
    return Diagnostic(BROKEN, name, Severity.ERROR, Confidence.CERTAIN, error.message, region, url=rule_url(name))


def _sifted(
    reported: Iterable[Diagnostic],
    given: Mapping[str, ModuleInfo],
    sheets: Mapping[str, FixContext],
    codes: frozenset[str],
) -> list[Diagnostic]:
    """What no comment silences; and the comments that silence nothing, where those are asked for."""
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in reported:
        by_file[one.region.filename].append(one)
    kept: list[Diagnostic] = []
    for filename in {*by_file, *(given if UNUSED in codes else ())}:
        found, module = by_file[filename], given.get(filename)
        if module is None:
            kept += found
            continue
        source = module.index.source
        suppressions = find_suppressions(source, module.index)
        spots = [FindingRows.of(one, source) for one in found]
        kept += [one for one, spot in zip(found, spots, strict=True) if not spot.is_silenced_by(suppressions)]
        if UNUSED in codes:
            kept += unused_suppressions(sheets[filename], suppressions, spots, codes)
    return kept
