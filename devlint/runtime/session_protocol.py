"""The part of a running session that checks below it may use, so that they need not import the session itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from devlint.runtime.recorder import Observation, Recorder


class SessionProtocol(Protocol):
    """What a check needs of the running session: its recorders, and a way to report an observation."""

    keep_going: bool
    """Whether the program goes on after an error of mixed devices, as if the operands had been moved."""

    @property
    def recorders(self) -> Sequence[Recorder]:
        """Return the recorders that are active now."""

    @property
    def suspended(self) -> bool:
        """Return whether this thread is inside something that is already recorded as one event."""

    def observe(self, observation: Observation) -> None:
        """Pass an observation to every recorder."""
