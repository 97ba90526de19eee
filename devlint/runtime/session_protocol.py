"""Protocol for those parts of a running session that the runtime checks use.

It exists so that the checks need not import the session itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from devlint.runtime.recorder import Observation, Recorder

if TYPE_CHECKING:
    import torch


class TestRules(Protocol):
    """The rules of `pytest --devlint=move`: what test code makes is placed on the accelerator."""

    def default_device(self) -> torch.device | None:
        """Return the device for a tensor that is now made without naming one; None unless a test makes it."""

    def place_new(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return a host tensor that is just made, on the accelerator if a test makes it."""

    def brings_together(self) -> bool:
        """Return whether operands on different devices may meet here, since the innermost code is a test's."""


class SessionProtocol(Protocol):
    """What a runtime check uses of the running session: its recorders, and a way to report an observed problem."""

    test_rules: TestRules | None
    """The rules that place what test code makes, or None."""
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
