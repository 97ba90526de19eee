"""Calls of modules that fail: a module and its input are on different devices, so that the call raises."""

from __future__ import annotations

from devlint.domain.path_conditions import PathCondition
from devlint.interpreter.state.events import CallOnStack


class FailedCalls:
    """The calls of modules being run that have failed already, with the conditions under which each has.

    The module runs on, so that what it stores is known. What it computes is not, and another conflict inside the same
    call would never happen.
    """

    def __init__(self) -> None:
        self._conditions: dict[CallOnStack, list[PathCondition]] = {}

    def add(self, call: CallOnStack, when: PathCondition) -> None:
        """Record that a call being run has failed under some conditions."""
        known = self._conditions.setdefault(call, [])
        if when not in known:
            known.append(when)

    def has_failed(self, calls: tuple[CallOnStack, ...], when: PathCondition) -> bool:
        """Return whether one of the calls on a call stack has failed before, under conditions that are among others."""
        return bool(self._conditions) and any(
            failed <= when for call in calls for failed in self._conditions.get(call, ())
        )

    def end(self, call: CallOnStack) -> list[PathCondition]:
        """Forget a call that has ended, and return the conditions under which it has failed."""
        return self._conditions.pop(call, [])

    def fork(self) -> FailedCalls:
        """Return a copy for one of several paths: what fails on it has not failed on the others."""
        copy = FailedCalls()
        copy.include(self)
        return copy

    def include(self, other: FailedCalls) -> None:
        """Add the calls that have failed on another path."""
        for call, conditions in other._conditions.items():
            for when in conditions:
                self.add(call, when)

    def clear(self) -> None:
        """Forget all calls."""
        self._conditions.clear()
