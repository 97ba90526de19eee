"""Replacement of attributes for a while, undone exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING = object()


class Patcher:
    """Replaces attributes of torch and other modules, and restores them in reverse order."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []
        self._last: list[Callable[[], object]] = []

    def replace(self, owner: Any, name: str, value: Any) -> Any:
        """Set an attribute, and return the value found there before, inherited or own."""
        found = getattr(owner, name, None)
        self._before.append((owner, name, vars(owner).get(name, _MISSING)))
        setattr(owner, name, value)
        return found

    def at_end(self, action: Callable[[], object]) -> None:
        """Register an action to run after everything is restored."""
        self._last.append(action)

    def undo(self) -> None:
        """Restore every replaced attribute, then run the registered actions."""
        while self._before:
            owner, name, value = self._before.pop()
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        while self._last:
            self._last.pop()()
