"""Conversion of a rule's findings to plain data: syntax nodes become regions of the source text, fixes become edits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import libcst as cst

from devlint.diagnostic import AssumptionNote, Confidence, Diagnostic, Fix, Note, Position, Region, Severity
from devlint.domain.placement import Place
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.program.program import Program
from devlint.linter.call_records import handed_parameter
from devlint.linter.file_findings import BugKey, LocatedFinding, LocatedOrigin, NodePlace, SharedCause
from devlint.linter.needed_parameters import needed_parameters
from devlint.linter.rule_listing import find_rule_metadata
from devlint.linter.rule_runner import Origin, RuleFinding
from devlint.rule import Finding, Rule
from devlint.syntax.index import FileIndex, Statement
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import SourceError
from devlint.syntax.tree_walk import descend

BROKEN_FILE_CODE = "DEV900"
"""The code of the rule for files that do not parse."""

ErrorContainment: TypeAlias = Callable[[str, str], AbstractContextManager[None]]
"""A function from a filename and a task to a context manager, which records exceptions so that other work continues."""


class FindingLocator:
    """The conversion of findings in a program's given files to plain data; what it has located, it remembers."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._regions: dict[Place, Region | None] = {}
        self._places: dict[Place, NodePlace] = {}
        self._contexts: dict[str, FixContext] = {}
        self._is_given_by_name: dict[str, bool] = {}

    def located(self, found: Iterable[RuleFinding], contained: ErrorContainment) -> Iterator[LocatedFinding]:
        """Yield the findings in given files with their fixes; `contained` records exceptions of code that makes fixes.

        A finding is left out if its place is in no statement of its file.
        """
        known = [one for one in found if self._is_given(one.finding.place.filename)]
        self._find_regions(place for one in known for place in _places_of(one))
        self._number(
            place for one in known for place in (*_places_named_by(one.finding), *_places_in_keys(one.finding))
        )
        for one in known:
            region = self._regions[one.finding.place]
            if region is not None:
                located = self._located(one.rule, one.finding, region, contained)
                yield replace(located, origins=frozenset(map(self._located_origin, one.origins)))

    def places(self, found: Iterable[tuple[str, Place]]) -> Iterator[tuple[str, NodePlace]]:
        """Yield the places that are in given files, each with the code of a rule, as plain data."""
        known = [(code, place) for code, place in found if self._is_given(place.filename)]
        self._number(place for _, place in known)
        yield from ((code, self._places[place]) for code, place in known)

    @cached_property
    def _given(self) -> frozenset[Path]:
        """The paths of the given files."""
        return frozenset(self._program.given_paths)

    def _is_given(self, filename: str) -> bool:
        """Return whether a file in which code was run is one of the given files."""
        if filename not in self._is_given_by_name:
            module = self._program.by_filename(filename)
            self._is_given_by_name[filename] = module is not None and module.path in self._given
        return self._is_given_by_name[filename]

    def _located(
        self, rule: type[Rule], finding: Finding, region: Region, contained: ErrorContainment
    ) -> LocatedFinding:
        """Return the finding of a rule as plain data."""
        regions, places = self._regions, self._places
        steps = [(step, at) for step in finding.trace if (at := regions[step.place]) is not None]
        assumed = ((one, regions[one.place] if one.place is not None else None) for one in finding.assumptions)
        diagnostic = Diagnostic(
            rule.code,
            rule.name,
            finding.severity or rule.severity,
            finding.confidence,
            finding.message,
            region,
            tuple(Note(step.message, at) for step, at in steps),
            finding.help,
            self._fix(finding, contained),
            assumptions=tuple(AssumptionNote(one.kind, one.message, at) for one, at in assumed),
            since_torch=finding.since_torch,
            refused_since=finding.refused_since,
        )
        cause = finding.cause
        return LocatedFinding(
            diagnostic,
            places[finding.place],
            tuple(places[step.place] for step, _ in steps),
            None if finding.subject is None else self._key(finding.subject),
            None if cause is None else SharedCause(self._key(cause.key), cause.recurs),
            rule.at_cause,
        )

    def _located_origin(self, origin: Origin) -> LocatedOrigin:
        """Return where an event happened, and what its path needs, as plain data."""
        region = self._regions[origin.place]
        row = region.start.row if region is not None else 0
        handed = sorted(map(handed_parameter, origin.handed))
        given = origin.call is not None and self._is_given(origin.call.filename)
        call = self._regions[origin.call] if origin.call is not None and given else None
        needed = tuple(needed_parameters(origin.path_condition))
        return LocatedOrigin(origin.place.filename, row, needed, tuple(handed), call)

    def _key(self, key: Hashable) -> BugKey:
        """Return what findings of one bug have in common as plain data."""
        if isinstance(key, Place):
            return self._places[key]
        parts = key if isinstance(key, tuple) else (key,)
        return tuple(self._places[part] if isinstance(part, Place) else str(part) for part in parts)

    def _fix(self, finding: Finding, contained: ErrorContainment) -> Fix | None:
        """Return the fix of a finding; None if the finding has no fix, or if the code that makes the fix fails."""
        if finding.make_fix is None:
            return None
        with contained(finding.place.filename, "a fix"), suppress(NoFix, SourceError):
            return finding.make_fix(self._context(finding.place.filename))
        return None

    def _context(self, filename: str) -> FixContext:
        """Return what fixes of a file need."""
        if filename not in self._contexts:
            module = self._program.by_filename(filename)
            assert module is not None
            self._contexts[filename] = FixContext(module.index)
        return self._contexts[filename]

    def _find_regions(self, places: Iterable[Place]) -> None:
        """Find the regions of the syntax nodes at some places; each top-level statement is read only once."""
        for unit, together in _by_statement(place for place in places if place not in self._regions):
            self._regions.update(dict.fromkeys(together))
            module = self._program.by_filename(together[0].filename)
            if module is None or unit is None:
                continue
            nodes = {place.node: place for place in together if isinstance(place.node, cst.CSTNode)}
            for node, (start, end) in _positions_of(unit, list(nodes), module.index).items():
                self._regions[nodes[node]] = module.source.region(start, end)

    def _number(self, places: Iterable[Place]) -> None:
        """Number the syntax nodes at some places; the nodes of each top-level statement are counted only once."""
        for unit, together in _by_statement(place for place in places if place not in self._places):
            wanted = {id(place.node): place for place in together}
            for place in together:
                self._places[place] = NodePlace(place.filename, unit.first_row if unit is not None else 0, -1)
            for number, node in enumerate((unit.tree, *descend(unit.tree)) if unit is not None else ()):
                found = wanted.get(id(node))
                if found is not None:
                    self._places[found] = replace(self._places[found], number=number)
                    del wanted[id(node)]
                    if not wanted:
                        break


def _by_statement(places: Iterable[Place]) -> Iterator[tuple[Statement | None, Sequence[Place]]]:
    """Yield each top-level statement that holds some of the places, with these places; None for no statement."""
    groups: dict[int, dict[Place, None]] = defaultdict(dict)
    for place in places:
        groups[id(place.unit)][place] = None
    for together in groups.values():
        unit = next(iter(together)).unit
        yield unit if isinstance(unit, Statement) else None, list(together)


def _places_of(found: RuleFinding) -> Iterator[Place]:
    """Yield the source locations that a finding names, and those of the events that led to it."""
    yield from _places_named_by(found.finding)
    yield from (one.place for one in found.origins)
    yield from (one.call for one in found.origins if one.call is not None)


def _places_named_by(finding: Finding) -> Iterator[Place]:
    """Yield the source locations that a finding names."""
    yield finding.place
    yield from (step.place for step in finding.trace)
    yield from (one.place for one in finding.assumptions if one.place is not None)


def _places_in_keys(finding: Finding) -> Iterator[Place]:
    """Yield the places in what a finding has in common with others of the same bug."""
    yield from _places_in(finding.subject)
    if finding.cause is not None:
        yield from _places_in(finding.cause.key)


def _places_in(key: Hashable) -> Iterator[Place]:
    """Yield the places in what findings of one bug have in common."""
    yield from (part for part in (key if isinstance(key, tuple) else (key,)) if isinstance(part, Place))


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


def broken_file_diagnostic(filename: str, error: SourceError) -> Diagnostic:
    """Return the diagnostic (DEV900) for a file, or a part of a file, that cannot be read or parsed."""
    rule = find_rule_metadata(BROKEN_FILE_CODE)
    name = rule.name if rule is not None else "broken-file"
    place = Position(error.row, error.column)
    region = Region(filename, place, place, error.cell)
    return Diagnostic(BROKEN_FILE_CODE, name, Severity.ERROR, Confidence.CERTAIN, error.message, region)
