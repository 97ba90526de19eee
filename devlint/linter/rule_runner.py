"""The dispatcher between the abstract interpreter and the rules: it passes each event to the rules that take it.

Of the findings that one rule makes at one source location, it keeps the most certain one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from devlint.diagnostic import Severity
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import Place
from devlint.interpreter.state.events import (
    DeviceConflict,
    DtypeConflict,
    Event,
    RefusedIndexDtype,
    RefusedTargetDtype,
)
from devlint.interpreter.state.passed_arguments import ParameterOf, root_parameter
from devlint.rule import Finding, Rule, events_of


class Origin(NamedTuple):
    """Where an event happened that led to a finding, on which path, and which parameters hold a caller's tensors.

    The finding supposes that the tensors are on an accelerator. `call` is the innermost call from another file: where
    the file of the event is not given, the conflict is reported there.
    """

    place: Place
    path_condition: PathCondition
    handed: frozenset[ParameterOf] = frozenset()
    call: Place | None = None


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A finding together with the class of the rule that made it, and where the events happened that led to it."""

    rule: type[Rule]
    finding: Finding
    origins: frozenset[Origin] = frozenset()


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
                self.withheld[rule.code, rule.place_of(event)] = None
            for finding in findings:
                context = event.context
                origin = Origin(context.place, context.path_condition, _handed(finding), _call_from_other_file(event))
                self._keep(rule, finding, origin)

    def _keep(self, rule: Rule, finding: Finding, *origin: Origin) -> None:
        """Store a finding, unless the same rule has one at the same source location that says as much.

        All events that led to findings of the rule there are remembered.
        """
        key = (rule.code, finding.place)
        known = self._kept.get(key)
        if known is None:
            self._kept[key] = RuleFinding(type(rule), finding, frozenset(origin))
        else:
            kept = finding if _is_preferred(finding, known.finding) else known.finding
            self._kept[key] = replace(known, finding=kept, origins=known.origins.union(origin))

    def findings(self) -> list[RuleFinding]:
        """Return the findings of all rules after the last event: the surest for each rule and source location.

        For a rule with `everywhere`, a finding is left out if another event at the same source location led to none.
        """
        for rule in self._rules:
            for finding in rule.final_findings():
                self._keep(rule, finding)
        return [found for key, found in self._kept.items() if key not in self.withheld]


def _call_from_other_file(event: Event) -> Place | None:
    """Return the innermost call from another file that led to a conflict, which may be reported there instead."""
    if not isinstance(event, DeviceConflict | DtypeConflict | RefusedIndexDtype | RefusedTargetDtype):
        return None
    places = (one.place for one in reversed(event.context.calls))
    return next((one for one in places if one.filename != event.context.place.filename), None)


def _handed(finding: Finding) -> frozenset[ParameterOf]:
    """Return the parameters whose values a finding supposes on an accelerator."""
    roots = (root_parameter(one.origin) for one in finding.assumptions if one.origin is not None)
    return frozenset(one for one in roots if one is not None)


def _is_preferred(one: Finding, other: Finding) -> bool:
    """Return whether the finding `one` says more than `other`: it is no mere information, or else it is surer."""
    infos = [each.severity is Severity.INFO for each in (one, other)]
    if infos[0] is not infos[1]:
        return infos[1]
    return one.confidence is not other.confidence and one.confidence.at_least(other.confidence)
