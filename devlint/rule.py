"""The base class of rules: a rule is one class in one file that turns events into findings."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, get_args, get_type_hints

from devlint.diagnostic import Confidence, Severity
from devlint.domain.placement import Place, Step
from devlint.fixes.fix_context import FixMaker


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's report on one event: the place that the reader must change, the message, the trace and the advice.

    `trace` runs from the oldest step to the newest; `severity` overrides the rule's own. Findings of one rule with the
    same `subject` are one bug, of which only the first place is reported. `make_fix` makes the fix.
    """

    place: Place
    message: str
    trace: tuple[Step, ...] = ()
    help: str | None = None
    confidence: Confidence = Confidence.CERTAIN
    severity: Severity | None = None
    subject: Hashable = None
    make_fix: FixMaker | None = None


class Rule(ABC):
    """The base class of rules. A subclass's docstring is the Markdown documentation of its rule.

    The annotation of `check` names the events that the rule takes: a class of `devlint.interpreter.state.events`, or a
    union of them. With `everywhere`, a finding is reported only when each event at its place led to one, because code
    that is wrong on one path or for one caller is then not enough. With `at_cause`, findings stand where the tensor was
    created, and replace the conflicts of that tensor that other rules report. `final_findings` is called once, after
    the last event, for rules that must see several events.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    fixable: ClassVar[bool] = False
    everywhere: ClassVar[bool] = False
    at_cause: ClassVar[bool] = False

    check: Callable[[Any], Iterator[Finding]]

    def final_findings(self) -> Iterator[Finding]:
        """Yield the findings that depend on all events of the run; called once, after the last event."""
        return iter(())

    @classmethod
    def documentation(cls) -> str:
        """Return the rule's documentation in Markdown."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the rule's documentation."""
        return cls.documentation().partition("\n")[0]


@cache
def events_of(rule: type[Rule]) -> tuple[type, ...]:
    """Return the event classes that a rule's `check` takes, read from its annotation. Raises TypeError without one."""
    hints = get_type_hints(rule.check)
    hints.pop("return", None)
    if len(hints) != 1:
        raise TypeError(f"{rule.__name__}.check must take one annotated event")
    (hint,) = hints.values()
    return get_args(hint) or (hint,)
