"""The abstract state at one point of the program, and how two of them join."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

from devlint.domain.device import CPU
from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.join import join, join_dtypes
from devlint.domain.objects import join_objects
from devlint.domain.path_conditions import NO_CONDITION, Literal, PathCondition, assume, branch_literal
from devlint.domain.placement import Basis, Placement, PlacementCase, Step, join_under
from devlint.domain.value import UNKNOWN, Value
from devlint.interpreter.state.heap import Heap


@dataclass(frozen=True, slots=True)
class TorchState:
    """What surrounds every operation: default device and dtype, autograd, autocast, and how far the accelerator may be
    behind.

    `grad` tells that autograd surely records; `autocast` that operations may choose dtypes of their own.

    `epoch` counts synchronisations; `launches` the accelerator operations; `unsynchronized` is the newest of them that
    nothing has waited for, with its number.
    """

    default_device: Placement | None = None
    default_dtype: Dtype = DEFAULT_FLOAT
    grad: bool = True
    autocast: bool = False
    current_device_known: bool = True
    epoch: int = 0
    launches: int = 0
    unsynchronized: tuple[int, Step] | None = None
    waited: Step | None = None


START: Final = TorchState()
HOST_BY_DEFAULT: Final = PlacementCase(CPU, Basis.DEFAULT)
"""Where factories put their tensors when no default device was set."""


class State:
    """Names, heap and facts on one path. `live` is false once the path has left by return, raise, break or continue."""

    __slots__ = ("heap", "live", "names", "path_condition", "torch_state")

    def __init__(
        self,
        names: dict[str, Value] | None = None,
        heap: Heap | None = None,
        path_condition: PathCondition = NO_CONDITION,
        torch_state: TorchState = START,
    ) -> None:
        self.names: dict[str, Value] = {} if names is None else names
        self.heap = Heap() if heap is None else heap
        self.path_condition = path_condition
        self.torch_state = torch_state
        self.live = True

    def fork(self) -> State:
        """An independent copy."""
        copy = State(dict(self.names), self.heap.fork(), self.path_condition, self.torch_state)
        copy.live = self.live
        return copy

    def assume(self, test: Literal) -> None:
        """Follow the path on which the test holds; the path dies when it cannot."""
        path_condition = assume(self.path_condition, test)
        if path_condition is None:
            self.live = False
        else:
            self.path_condition = path_condition


def join_states(left: State, right: State) -> State:
    """The state after either path. What the two branched on becomes the condition of what they disagree on."""
    if not left.live:
        return right
    if not right.live:
        return left
    test = branch_literal(left.path_condition, right.path_condition)
    return State(
        _merge_names(left.names, right.names, test),
        left.heap.merge(right.heap, lambda a, b: join_objects(a, b, test)),
        left.path_condition & right.path_condition,
        _merge_ambient(left.torch_state, right.torch_state, test),
    )


def join_all_states(states: Sequence[State]) -> State:
    """The state after any of several paths."""
    return reduce(join_states, states)


def _merge_names(left: dict[str, Value], right: dict[str, Value], test: Literal | None) -> dict[str, Value]:
    merged = dict(left)
    for name, value in right.items():
        other = merged.get(name)
        if other is None:
            merged[name] = value
        elif other is not value:
            merged[name] = join(other, value, test)
    return merged


def _merge_ambient(left: TorchState, right: TorchState, test: Literal | None) -> TorchState:
    if left == right:
        return left
    default = left.default_device
    if default != right.default_device:
        default = join_under(test, default or HOST_BY_DEFAULT, right.default_device or HOST_BY_DEFAULT)
    return replace(
        left,
        default_device=default,
        default_dtype=join_dtypes(left.default_dtype, right.default_dtype),
        grad=left.grad and right.grad,
        autocast=left.autocast or right.autocast,
        current_device_known=left.current_device_known and right.current_device_known,
        epoch=max(left.epoch, right.epoch),
        launches=max(left.launches, right.launches),
        unsynchronized=_unfinished(left, right),
        waited=left.waited if left.waited is right.waited else None,
    )


def _unfinished(left: TorchState, right: TorchState) -> tuple[int, Step] | None:
    """The newest work that may be running after either path; none when one of the two has waited meanwhile."""
    running = [one.unsynchronized for one in (left, right) if one.unsynchronized is not None]
    if left.epoch != right.epoch and len(running) < 2:
        return None
    return max(running, key=lambda work: work[0], default=None)


def changed(before: State, after: State) -> set[str]:
    """The names whose values differ between two states."""
    return {name for name, value in after.names.items() if before.names.get(name, UNKNOWN) != value}


def is_fixpoint(before: State, after: State, names: frozenset[str] | None = None) -> bool:
    """Whether nothing a loop body could read has changed: none of these names, or of all where they are not known."""
    if names is None:
        agree = before.names == after.names
    else:
        agree = all(before.names.get(name) == after.names.get(name) for name in names)
    if not agree or before.torch_state.default_device != after.torch_state.default_device:
        return False
    return after.heap.agrees(before.heap)
