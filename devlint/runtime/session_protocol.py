"""Protocol for those parts of a running session that the runtime checks use.

It exists so that the checks need not import the session itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from devlint.runtime.recorder import Observation, Recorder


class SessionProtocol(Protocol):
    """What a runtime check uses of the running session: its recorders, and a way to report an observed problem."""

    keep_going: bool
    """Whether the program goes on after an error of mixed devices, as if the operands had been moved."""

    @property
    def recorders(self) -> Sequence[Recorder]:
        """Return the recorders that are active now."""

    @property
    def suspended(self) -> bool:
        """Return whether recording is suspended in this thread, as what it does is already recorded as one event."""

    def observe(self, observation: Observation) -> None:
        """Pass an observed problem to every recorder."""
