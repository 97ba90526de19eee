"""What a rule is: one class in one file, from an event to findings. Its docstring is its documentation."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, get_args, get_type_hints

from devlint.diagnostic import Confidence, Severity
from devlint.domain.placement import Place, Step
from devlint.fixes.sheet import FixMaker


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule says of one event: the place where the reader must change something, the story, and what to write
    instead.

    `trace` runs from the oldest step to the newest; `severity` overrides the rule's own. Findings of one rule with
    the same `subject` are one bug, of which the first place is reported. `make_fix` works out the fix.
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
    """A rule takes events by the annotation of `check` (a class of
    `devlint.interpreter.state.events`, or a union of them).

    With `everywhere`, a finding is reported only when each event at its place led to one: what code does on one path
    or for one caller is then not enough. `at_cause` tells that findings stand where the tensor was made: they speak
    for the conflicts of that tensor that other rules report. `final_findings` is asked once, after the last event, by
    rules that must see several.
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
        """Findings that only the whole run could show."""
        return iter(())

    @classmethod
    def documentation(cls) -> str:
        """The rule's Markdown."""
        return inspect.cleandoc(cls.__doc__ or "")

    @classmethod
    def summary(cls) -> str:
        """The first line of the documentation."""
        return cls.documentation().partition("\n")[0]


@cache
def events_of(rule: type[Rule]) -> tuple[type, ...]:
    """The event classes a rule's `check` takes, read from its annotation. Raises TypeError for a rule without one."""
    hints = get_type_hints(rule.check)
    hints.pop("return", None)
    if len(hints) != 1:
        raise TypeError(f"{rule.__name__}.check must take one annotated event")
    (hint,) = hints.values()
    return get_args(hint) or (hint,)
