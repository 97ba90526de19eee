"""The allowance for calls beyond the limit of depth, in code entered with symbolic arguments.

Each function is an entry point of its own, so most deep calls tell little that is new, and they are the most numerous.
An entry point therefore follows them only until it has evaluated a small number of syntax nodes in them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

CONSTRUCTION_ALLOWANCE: Final = 500
"""The number of syntax nodes that one entry point may evaluate in deep calls while it constructs modules.

The constructor of a block takes some 30. Without the modules that it makes, nothing is known of the results of calling
the block, so constructors are worth more than other calls.
"""

CALL_ALLOWANCE: Final = 100
"""The number of syntax nodes that one entry point may evaluate in other deep calls."""


class Reach(IntEnum):
    """Whether a call may be followed: not at all, within the limit of depth, or beyond it at the allowance's cost."""

    NOT = 0
    WITHIN = 1
    BEYOND = 2


class DeepCalls:
    """What is left of one entry point's allowances for deep calls.

    `floor` is the evaluation budget at which the allowance of the running deep call is spent; None outside deep calls.
    """

    def __init__(self) -> None:
        self.construction = CONSTRUCTION_ALLOWANCE
        self.calls = CALL_ALLOWANCE
        self.floor: int | None = None

    def allow(self, budget: int, *, construction: bool) -> bool:
        """Return whether a deep call may be followed, given the evaluation budget."""
        if self.floor is not None:
            return budget > self.floor
        return (self.construction if construction else self.calls) > 0

    def begin(self, budget: int, *, construction: bool) -> None:
        """Begin a deep call; the calls inside it count as part of it."""
        self.floor = budget - (self.construction if construction else self.calls)

    def end(self, budget: int, *, construction: bool) -> None:
        """End a deep call, and subtract what it has cost from the allowance."""
        assert self.floor is not None
        if construction:
            self.construction = budget - self.floor
        else:
            self.calls = budget - self.floor
        self.floor = None
