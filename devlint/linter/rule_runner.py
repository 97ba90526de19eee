"""Dispatch of the interpreter's events to the rules, which keeps one finding for each rule and place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from devlint.domain.placement import Place
from devlint.interpreter.state.events import BrokenFile, Event
from devlint.rule import Finding, Rule, events_of
from devlint.syntax.source import SourceError


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A finding and the class of the rule that made it."""

    rule: type[Rule]
    finding: Finding


class RuleRunner:
    """The selected rules and their findings: each event is passed to the rules whose `check` takes its class."""

    def __init__(self, rules: Iterable[type[Rule]], codes: frozenset[str]) -> None:
        self.codes = codes
        self._by_event: dict[type, list[Rule]] = defaultdict(list)
        self._rules = [rule() for rule in rules if rule.code in codes]
        for rule in self._rules:
            for event in events_of(type(rule)):
                self._by_event[event].append(rule)
        self._kept: dict[tuple[str, Place], RuleFinding] = {}
        self._without_finding: set[tuple[str, Place]] = set()
        self.broken_files: list[tuple[str, SourceError]] = []

    def dispatch(self, event: Event) -> None:
        """Pass an event to the rules that take its class, and keep their findings."""
        for rule in self._by_event.get(type(event), ()):
            findings = list(rule.check(event))
            if not findings and rule.everywhere:
                self._without_finding.add((rule.code, event.context.place))
            for finding in findings:
                self._keep(rule, finding)

    def record_broken_file(self, filename: str, error: SourceError) -> None:
        """Record that a file cannot be analysed, and the error that says why."""
        if BrokenFile in self._by_event:
            self.broken_files.append((filename, error))

    def _keep(self, rule: Rule, finding: Finding) -> None:
        """Keep a finding, unless a finding of the rule at the same place is at least as certain."""
        key = (rule.code, finding.place)
        known = self._kept.get(key)
        if known is None or _is_more_certain(finding, known.finding):
            self._kept[key] = RuleFinding(type(rule), finding)

    def findings(self) -> list[RuleFinding]:
        """Return the most certain finding of each rule at each place.

        For rules with `everywhere`, a finding is left out when another event at its place led to none.
        """
        for rule in self._rules:
            for finding in rule.final_findings():
                self._keep(rule, finding)
        return [found for key, found in self._kept.items() if key not in self._without_finding]


def _is_more_certain(one: Finding, other: Finding) -> bool:
    """Return whether a finding has a higher confidence than another."""
    return one.confidence is not other.confidence and one.confidence.at_least(other.confidence)
