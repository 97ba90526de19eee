"""The base class of devlint's rules, and the findings that rules make.

Each rule is one class in one file, which turns events of the abstract interpreter into findings.
"""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, get_args, get_type_hints

from devlint.diagnostic import Confidence, Severity, confidence_under
from devlint.domain.placement import Assumption, Place, Step
from devlint.explain.causes import Cause
from devlint.fixes.fix_context import FixMaker
from devlint.interpreter.state.events import Event


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule reports about an event: the code that the reader must change, and the message, trace and advice.

    `place` is the syntax node of that code. `trace` runs from the oldest step to the newest; `severity` overrides the
    rule's own. Findings of one rule with the same `subject` are one bug, of which only the first in the source is
    reported; of findings of any rule with the same `cause`, the one found first. `assumptions` are what the finding
    takes for granted, and decide how sure it is. `make_fix` makes the fix. `since_torch` is the first
    release of torch in which the advice can be followed: the finding is dropped for a project that supports older ones.
    `refused_since` is the first release that refuses the operation: it is dropped for one that only takes older ones.
    """

    place: Place
    message: str
    trace: tuple[Step, ...] = ()
    help: str | None = None
    assumptions: tuple[Assumption, ...] = ()
    severity: Severity | None = None
    subject: Hashable = None
    cause: Cause | None = None
    make_fix: FixMaker | None = None
    since_torch: tuple[int, ...] | None = None
    refused_since: tuple[int, ...] | None = None

    @property
    def confidence(self) -> Confidence:
        """How sure devlint is of the finding, which its assumptions decide."""
        return confidence_under(one.kind for one in self.assumptions)


class Rule(ABC):
    """The base class of rules. A subclass's docstring is the Markdown documentation of its rule.

    The annotation of `check` names the events that the rule takes: a class of `devlint.interpreter.state.events`, or a
    union of such classes. With `everywhere`, a finding is reported only when each event at the same source location led
    to a finding, because code that is wrong on one path or for one caller is then not enough. With `at_cause`, findings
    are reported where the tensor was created, and they replace the device conflicts of that tensor that other rules
    report. With `info_by_name`, findings of severity info are shown only where a selector names the rule itself, not
    just its family. `final_findings` is called once, after the last event, for rules that must see several events.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    fixable: ClassVar[bool] = False
    everywhere: ClassVar[bool] = False
    at_cause: ClassVar[bool] = False
    info_by_name: ClassVar[bool] = False

    check: Callable[[Any], Iterator[Finding]]

    def final_findings(self) -> Iterator[Finding]:
        """Yield the findings that the rule can make only when it has seen all events of a run of devlint.

        The method is called once, after the last event. By default it yields nothing.
        """
        return iter(())

    def place_of(self, event: Event) -> Place:
        """Return the source location at which the rule would report an event: that of the event unless overridden."""
        return event.context.place

    @classmethod
    def documentation(cls) -> str:
        """Return the rule's documentation in Markdown, which is the docstring of the rule class."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the rule's documentation, which is the docstring of the rule class."""
        return cls.documentation().partition("\n")[0]


@cache
def events_of(rule: type[Rule]) -> tuple[type, ...]:
    """Return the event classes that a rule's method `check` accepts, according to the type annotation of its argument.

    Raises TypeError if `check` does not have exactly one annotated argument.
    """
    hints = get_type_hints(rule.check)
    hints.pop("return", None)
    if len(hints) != 1:
        raise TypeError(f"{rule.__name__}.check must take one annotated event")
    (hint,) = hints.values()
    return get_args(hint) or (hint,)
