"""Call summaries: the recorded effects of calls, reused in later passes of the loops around the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from devlint.domain.objects import HeapObject
from devlint.domain.path_conditions import PathCondition
from devlint.domain.record import record
from devlint.domain.value import AllocationSite, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import TorchState
from devlint.interpreter.state.heap import Heap

CallKey: TypeAlias = "tuple[FunctionInfo, int]"
"""The key of a call summary: the function, and the number of the chain of calls and loops that ends in the call."""


@record(frozen=True, slots=True)
class CallInputs:
    """Everything that a call can read: a summary of the call is valid for another call with equal inputs.

    `names` are the arguments and captured names with their values. `outer_writes` counts the writes to globals and to
    names of enclosing functions, `invalidations` the events that make calls differ (see `CallSummaries.invalidate`).
    `budget` is the evaluation budget before the call, from which the cost of the call is known.
    """

    names: Mapping[str, Value]
    path_condition: PathCondition
    torch_state: TorchState
    heap: Heap
    outer_writes: tuple[int, int]
    invalidations: int
    budget: int


@record(frozen=True, slots=True)
class CallSummary:
    """The recorded effect of one call: its inputs, heap writes, torch's settings after the call, and return value.

    `device_facts` are what the call's return says of its arguments' devices, `required` the conditions without which
    the call raises.
    """

    inputs: CallInputs
    written: tuple[tuple[AllocationSite, HeapObject], ...]
    torch_state: TorchState
    value: Value
    device_facts: PathCondition
    required: PathCondition


@record(frozen=True, slots=True)
class CachedResult:
    """The result of a function with a cache; `waits` is true if the call has waited for all work of the accelerator."""

    value: Value
    waits: bool


class CallSummaries:
    """The summaries of the calls made in the loops that are being run, by function and chain of calls.

    `loops` counts the enclosing loops that are run to a fixpoint; outside such loops, no summary is kept.
    `retained_objects` is the total number of heap objects that the summaries hold. `invalidations` and
    `captured_writes` count events that make a summary invalid although the compared inputs of the call are equal.
    """

    def __init__(self) -> None:
        self.summaries: dict[CallKey, CallSummary] = {}
        self.loops = 0
        self.retained_objects = 0
        self.invalidations = 0
        self.captured_writes = 0

    def invalidate(self) -> None:
        """Prevent the calls that are being run from being summarised.

        It is called when code reads a passing fact, such as the time or the amount of running work: a later call would
        find another one.
        """
        self.invalidations += 1

    def invalidate_captured_names(self) -> None:
        """Invalidate the call summaries because a function has bound a name of an enclosing function.

        Calls that read the name may from then on find another value.
        """
        self.captured_writes += 1

    @contextmanager
    def loop(self, function: FunctionInfo | None, assigned: frozenset[str]) -> Iterator[None]:
        """Enter a loop that is run to a fixpoint for the duration of the `with` block.

        When the outermost loop ends, all summaries are dropped. No summaries are kept where functions nested in
        `function` read names that the loop binds (`assigned`), since comparing the inputs of calls would not show a
        change of those.
        """
        before = self.loops
        apart = function is None or not function.captured_names.isdisjoint(assigned)
        self.loops = 0 if apart else before + 1
        yield
        self.loops = before
        if not before:
            self.summaries.clear()
            self.retained_objects = 0
