"""Takes the events of an analysis to the rules, and keeps one finding for each bug."""

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
    """A finding and the rule that made it."""

    rule: type[Rule]
    finding: Finding


class RuleRunner:
    """Asks each selected rule about each event it takes."""

    def __init__(self, rules: Iterable[type[Rule]], codes: frozenset[str]) -> None:
        self.codes = codes
        self._by_event: dict[type, list[Rule]] = defaultdict(list)
        self._rules = [rule() for rule in rules if rule.code in codes]
        for rule in self._rules:
            for event in events_of(type(rule)):
                self._by_event[event].append(rule)
        self._found: dict[tuple[str, Place], RuleFinding] = {}
        self._silent: set[tuple[str, Place]] = set()
        self.broken_files: list[tuple[str, SourceError]] = []

    def dispatch(self, event: Event) -> None:
        """One event."""
        for rule in self._by_event.get(type(event), ()):
            findings = list(rule.check(event))
            if not findings and rule.everywhere:
                self._silent.add((rule.code, event.context.place))
            for finding in findings:
                self._keep(rule, finding)

    def broken(self, filename: str, error: SourceError) -> None:
        """A file that cannot be analysed, and why."""
        if BrokenFile in self._by_event:
            self.broken_files.append((filename, error))

    def _keep(self, rule: Rule, finding: Finding) -> None:
        key = (rule.code, finding.place)
        known = self._found.get(key)
        if known is None or _surer(finding, known.finding):
            self._found[key] = RuleFinding(type(rule), finding)

    def findings(self) -> list[RuleFinding]:
        """What is to be reported: the surest finding for each rule and place, where no event there says otherwise."""
        for rule in self._rules:
            for finding in rule.final_findings():
                self._keep(rule, finding)
        return [found for key, found in self._found.items() if key not in self._silent]


def _surer(one: Finding, other: Finding) -> bool:
    return one.confidence is not other.confidence and one.confidence.at_least(other.confidence)
