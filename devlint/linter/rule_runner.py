"""The dispatcher between the abstract interpreter and the rules: it passes each event to the rules that take it.

Of the findings that one rule makes at one source location, it keeps the most certain one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from devlint.domain.placement import Place
from devlint.interpreter.state.events import Event
from devlint.rule import Finding, Rule, events_of


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A finding together with the class of the rule that made it."""

    rule: type[Rule]
    finding: Finding


class RuleRunner:
    """The selected rules, with what they find in the events of one file's analysis.

    Each event goes to the rules whose `check` accepts its class.
    """

    def __init__(self, rules: Iterable[type[Rule]], codes: frozenset[str]) -> None:
        self.codes = codes
        self._by_event: dict[type, list[Rule]] = defaultdict(list)
        self._rules = [rule() for rule in rules if rule.code in codes]
        for rule in self._rules:
            for event in events_of(type(rule)):
                self._by_event[event].append(rule)
        self._kept: dict[tuple[str, Place], RuleFinding] = {}
        self.withheld: dict[tuple[str, Place], None] = {}
        """The rules with `everywhere`, by code, and the source locations at which an event led to no finding."""

    def dispatch(self, event: Event) -> None:
        """Pass an event to the rules that accept its class, and store the findings that these rules make."""
        for rule in self._by_event.get(type(event), ()):
            findings = list(rule.check(event))
            if not findings and rule.everywhere:
                self.withheld[rule.code, event.context.place] = None
            for finding in findings:
                self._keep(rule, finding)

    def _keep(self, rule: Rule, finding: Finding) -> None:
        """Store a finding, unless the same rule has one at the same source location that is at least as certain."""
        key = (rule.code, finding.place)
        known = self._kept.get(key)
        if known is None or _is_more_certain(finding, known.finding):
            self._kept[key] = RuleFinding(type(rule), finding)

    def findings(self) -> list[RuleFinding]:
        """Return the findings of all rules after the last event: the surest for each rule and source location.

        For a rule with `everywhere`, a finding is left out if another event at the same source location led to none.
        """
        for rule in self._rules:
            for finding in rule.final_findings():
                self._keep(rule, finding)
        return [found for key, found in self._kept.items() if key not in self.withheld]


def _is_more_certain(one: Finding, other: Finding) -> bool:
    """Return whether the finding `one` has a higher confidence than the finding `other`."""
    return one.confidence is not other.confidence and one.confidence.at_least(other.confidence)
