"""What calls have done, remembered for the rounds of the loops around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from devlint.domain.objects import HeapObject
from devlint.domain.path_conditions import PathCondition
from devlint.domain.value import AllocationSite, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import TorchState
from devlint.interpreter.state.heap import Heap

CallKey: TypeAlias = "tuple[FunctionInfo, int]"
"""A function, and the number of the chain of calls and loops that ends in its call."""


@dataclass(frozen=True, slots=True)
class CallInputs:
    """What a call finds: its arguments and what it captures under their names, and all it could read besides."""

    names: Mapping[str, Value]
    path_condition: PathCondition
    torch_state: TorchState
    heap: Heap
    elsewhere: tuple[int, int]
    moments: int
    budget: int


@dataclass(frozen=True, slots=True)
class CallSummary:
    """A call that was made: what it found, what it wrote, and how it ended."""

    before: CallInputs
    written: tuple[tuple[AllocationSite, HeapObject], ...]
    torch_state: TorchState
    value: Value


class CallSummaries:
    """The calls made in the rounds of the loops being run, by function and by the calls and loops around.

    `loops` counts the loops around that are run until nothing changes, `held` the heap objects that the remembered
    heaps hold together, `moments` and `rebound` what happened that no comparison of calls would show.
    """

    def __init__(self) -> None:
        self.summaries: dict[CallKey, CallSummary] = {}
        self.loops = 0
        self.held = 0
        self.moments = 0
        self.rebound = 0

    def invalidate(self) -> None:
        """Something was asked of this very moment (the time, how much work runs): it is never asked the same again."""
        self.moments += 1

    def invalidate_captured_names(self) -> None:
        """A function has bound a name of the code around it: whoever reads that name may find something else."""
        self.rebound += 1

    @contextmanager
    def loop(self, function: FunctionInfo | None, assigned: frozenset[str]) -> Iterator[None]:
        """A loop that is run until nothing changes, and what it binds: what functions within its function read of that
        changes unseen."""
        before = self.loops
        apart = function is None or not function.captured.isdisjoint(assigned)
        self.loops = 0 if apart else before + 1
        yield
        self.loops = before
        if not before:
            self.summaries.clear()
            self.held = 0
