"""Conversion of findings into diagnostics: compute rows and columns, remove duplicates and apply suppressions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import TypeAlias

import libcst as cst

from devlint.diagnostic import Confidence, Diagnostic, Fix, Note, Position, Region, Severity
from devlint.domain.placement import Place
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.rule_loader import find_rule
from devlint.linter.rule_runner import RuleFinding, RuleRunner
from devlint.linter.unused_suppressions import UNUSED_CODE, FindingRows, unused_suppressions
from devlint.rule import Finding, Rule
from devlint.rule_metadata import rule_url
from devlint.syntax.index import FileIndex, Statement
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import SourceError
from devlint.syntax.suppressions import find_suppressions

BROKEN_FILE_CODE = "DEV900"
"""The code of the rule for files that do not parse."""


ErrorContainment: TypeAlias = Callable[[str, str], AbstractContextManager[None]]
"""A function from a filename and a task to a context manager, which records exceptions so that other work continues."""


def diagnostics_of(collector: RuleRunner, program: Program, contained: ErrorContainment) -> tuple[Diagnostic, ...]:
    """Return the sorted diagnostics of all findings in the given files that no comment suppresses."""
    given = {module.filename: module for path in program.given_paths if (module := program.load(path)) is not None}
    found = [one for one in collector.findings() if one.finding.place.filename in given]
    regions = _regions(found, program)
    contexts = {filename: FixContext(module.index) for filename, module in given.items()}
    reported = [
        _diagnostic(one.rule, one.finding, regions, contexts[one.finding.place.filename], contained)
        for one in _one_for_each_bug(found, regions)
    ]
    reported += [broken_file_diagnostic(filename, error) for filename, error in collector.broken_files]
    kept = _unsuppressed(reported, given, contexts, collector.codes)
    return tuple(sorted(kept, key=lambda one: one.order))


def _one_for_each_bug(found: Iterable[RuleFinding], regions: dict[Place, Region]) -> list[RuleFinding]:
    """Return the findings without duplicates: of a rule's findings with one subject, only the first in the file."""
    first: dict[Hashable, RuleFinding] = {}
    rest: list[RuleFinding] = []
    for one in _replaced_by_causes([one for one in found if one.finding.place in regions]):
        if one.finding.subject is None:
            rest.append(one)
            continue
        key = (one.rule.code, one.finding.subject)
        known = first.get(key)
        if known is None or _order(one, regions) < _order(known, regions):
            first[key] = one
    return [*rest, *first.values()]


def _replaced_by_causes(found: Sequence[RuleFinding]) -> Iterator[RuleFinding]:
    """Yield the findings without those whose cause another finding reports.

    A finding at the cause takes the highest confidence of the findings that it replaces.
    """
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
    """Return the sort key of a finding: its file, notebook cell and position."""
    region = regions[one.finding.place]
    return region.filename, region.cell or 0, region.start


def _regions(found: Iterable[RuleFinding], program: Program) -> dict[Place, Region]:
    """Return the region of every place in the findings and their steps, with one pass over each statement."""
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
        for node, (start, end) in _positions_of(unit, list(nodes), module.index).items():
            regions[nodes[node]] = module.index.source.region(start, end)
    return regions


def _positions_of(
    unit: Statement, nodes: Sequence[cst.CSTNode], index: FileIndex
) -> Mapping[cst.CSTNode, tuple[Position, Position]]:
    """Return the start and end position of each node.

    For a statement that is nested too deeply to compute them, every node has the position of the statement's start.
    """
    try:
        return node_positions(unit, nodes, index)
    except SourceError:
        beginning = index.lines.position(unit.start)
        return dict.fromkeys(nodes, (beginning, beginning))


def _diagnostic(
    rule: type[Rule], finding: Finding, regions: dict[Place, Region], context: FixContext, contained: ErrorContainment
) -> Diagnostic:
    """Return the diagnostic of a rule's finding."""
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


def _fix(finding: Finding, context: FixContext, contained: ErrorContainment) -> Fix | None:
    """Return the fix of a finding; None if it has none, or if making it fails."""
    if finding.make_fix is None:
        return None
    with contained(finding.place.filename, "a fix"), suppress(NoFix, SourceError):
        return finding.make_fix(context)
    return None


def broken_file_diagnostic(filename: str, error: SourceError) -> Diagnostic:
    """Return the diagnostic for a file, or a part of a file, that does not parse."""
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
    contexts: Mapping[str, FixContext],
    codes: frozenset[str],
) -> list[Diagnostic]:
    """Return the diagnostics that no comment suppresses, and those of unused suppressions if that rule is selected."""
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for one in reported:
        by_file[one.region.filename].append(one)
    kept: list[Diagnostic] = []
    for filename in {*by_file, *(given if UNUSED_CODE in codes else ())}:
        found, module = by_file[filename], given.get(filename)
        if module is None:
            kept += found
            continue
        source = module.index.source
        suppressions = find_suppressions(source, module.index)
        rows = [FindingRows.of(one, source) for one in found]
        kept += [one for one, row in zip(found, rows, strict=True) if not row.is_silenced_by(suppressions)]
        if UNUSED_CODE in codes:
            kept += unused_suppressions(contexts[filename], suppressions, rows, codes)
    return kept
