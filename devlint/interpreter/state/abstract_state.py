"""The abstract state at one point of the program (names, heap, path condition), and the join of two such states."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import field
from functools import reduce
from typing import Final

from devlint.domain.autocast import NO_AUTOCAST, UNKNOWN_AUTOCAST, Autocast
from devlint.domain.clock_reads import Launch, RunningWork
from devlint.domain.device import ANY_ACCELERATOR, CPU, KnownDevice
from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.join import join, join_dtypes
from devlint.domain.objects import join_objects
from devlint.domain.path_conditions import (
    NO_CONDITION,
    Conjunction,
    Literal,
    PathCondition,
    assume,
    branch_literal,
    conditional,
    conjoin,
    conjunction,
)
from devlint.domain.placement import Basis, Placement, PlacementCase, Step
from devlint.domain.placement_lattice import join_under
from devlint.domain.record import record, replace
from devlint.domain.storage import CopyInFlight
from devlint.domain.value import UNKNOWN, Value
from devlint.interpreter.state.heap import Heap


@record(frozen=True, slots=True)
class ProcessGroup:
    """The default process group of `torch.distributed`: its backend, and the call that made it."""

    backend: Value
    made: Step = field(compare=False)


@record(frozen=True, slots=True)
class TorchState:
    """Torch's global settings, and the accelerator work that is still running, at one point of the program.

    `default_device` is None for the host. `grad` is true when autograd surely records, `autocast` holds the
    autocast contexts around the code. `current_device` is the accelerator that the program has made the current one,
    with an index that may be unknown; None until the program may have chosen one.

    `epoch` counts the synchronisations so far and `launches` the accelerator operations. `unsynchronized` is the newest
    operation that the host has not waited for, with its number. `last_wait` is the step of the last synchronisation if
    nothing has been launched since. `in_flight` are the copies out of pinned memory that may be unfinished.
    `equal_dtypes` are the origins of symbolic dtypes with the dtypes that they equal, as operations have shown that
    need operands of one dtype. `process_group` is the default process group, None until the program may have made one.
    """

    default_device: Placement | None = None
    default_dtype: Dtype = DEFAULT_FLOAT
    grad: bool = True
    autocast: Autocast = NO_AUTOCAST
    current_device: KnownDevice | None = None
    epoch: int = 0
    launches: int = 0
    unsynchronized: RunningWork | None = None
    last_wait: Step | None = None
    equal_dtypes: frozenset[tuple[Hashable, Dtype]] = frozenset()
    in_flight: frozenset[CopyInFlight] = frozenset()
    process_group: ProcessGroup | None = None


INITIAL_TORCH_STATE: Final = TorchState()
"""The settings of torch when a program starts."""
HOST_BY_DEFAULT: Final = PlacementCase(CPU, Basis.DEFAULT)
"""The placement of tensors from a factory without `device=` while no default device is set."""


class State:
    """The abstract state on one path: names, heap, path condition and torch's settings.

    `live` is false once the path has left the code by return, raise, break or continue, and `failed` is true where an
    operation that raises has ended it. `required` are those literals of the path condition without which an operation
    on the way here would have raised. `bound_if` are the conditions under which names are bound that only some of the
    paths which lead here have bound.
    """

    __slots__ = ("bound_if", "failed", "heap", "live", "names", "path_condition", "required", "torch_state")

    def __init__(
        self,
        names: dict[str, Value] | None = None,
        heap: Heap | None = None,
        path_condition: PathCondition = NO_CONDITION,
        torch_state: TorchState = INITIAL_TORCH_STATE,
    ) -> None:
        self.names: dict[str, Value] = {} if names is None else names
        self.heap = Heap() if heap is None else heap
        self.path_condition = path_condition
        self.torch_state = torch_state
        self.bound_if: dict[str, Literal] = {}
        self.required: PathCondition = NO_CONDITION
        self.live = True
        self.failed = False

    def fork(self) -> State:
        """Return an independent copy of the abstract state, for another path to change."""
        copy = State(dict(self.names), self.heap.fork(), self.path_condition, self.torch_state)
        copy.bound_if = dict(self.bound_if) if self.bound_if else {}
        copy.required = self.required
        copy.live, copy.failed = self.live, self.failed
        return copy

    def assume(self, test: Literal) -> None:
        """Add a literal to the path condition of this state.

        If the two contradict each other, no run takes the path, and `live` becomes false.
        """
        path_condition = assume(self.path_condition, test)
        if path_condition is None:
            self.live = False
        else:
            self.path_condition = path_condition

    def revive(self) -> None:
        """Go on with a path that has ended: other code runs after it all the same."""
        self.live, self.failed = True, False

    def require(self, tests: PathCondition) -> None:
        """Add literals to the path condition without which an operation raises.

        If they contradict it, the path has ended by that operation.
        """
        path_condition = conjoin(self.path_condition, tests) if tests else self.path_condition
        if path_condition is None:
            self.live, self.failed = False, True
        else:
            self.path_condition = path_condition
            self.required |= tests


def join_states(left: State, right: State) -> State:
    """Return the join of the abstract states at the ends of two paths.

    A path that has ended early, by `return` for example, does not count. The literal on which the two paths branched
    becomes the condition of the values in which they differ.
    """
    if not left.live:
        return _after_failure(right, left)
    if not right.live:
        return _after_failure(left, right)
    test = branch_literal(left.path_condition, right.path_condition)
    joined = State(
        _join_names(left.names, right.names, test),
        left.heap.merge(right.heap, lambda a, b: join_objects(a, b, test)),
        left.path_condition & right.path_condition,
        _join_torch_states(left, right, test),
    )
    joined.required = left.required & right.required
    if left.bound_if or right.bound_if or left.names.keys() != right.names.keys():
        joined.bound_if = _join_bound_if(left, right, test)
    return joined


def _after_failure(other: State, ended: State) -> State:
    """Return the state of the path that goes on where another path has ended; what tells the two apart is required.

    The other path may have ended as well.
    """
    if not other.live:
        other.failed = other.failed and ended.failed
    elif ended.failed:
        other.required |= {one for one in other.path_condition if ~one in ended.path_condition}
    return other


def join_all_states(states: Sequence[State]) -> State:
    """Return the join of the abstract states at the ends of several paths."""
    return reduce(join_states, states)


def _join_names(left: dict[str, Value], right: dict[str, Value], test: Literal | None) -> dict[str, Value]:
    """Return the join of the names' values after either of two paths.

    A name that only one path has bound keeps that path's value.
    """
    merged = dict(left)
    for name, value in right.items():
        other = merged.get(name)
        if other is None:
            merged[name] = value
        elif other is not value:
            merged[name] = join(other, value, test)
    return merged


def _join_bound_if(left: State, right: State, test: Literal | None) -> dict[str, Literal]:
    """Return which conditions hold where names are bound after either of two paths, for those that may be unbound.

    `test` is the condition on which the paths branched. Without one, what only the path of a name assumes holds.
    """
    if test is not None:
        alone = frozenset((test,)), frozenset((~test,))
    else:
        alone = left.path_condition - right.path_condition, right.path_condition - left.path_condition
    found: dict[str, Literal] = {}
    for name in (left.names.keys() ^ right.names.keys()) | left.bound_if.keys() | right.bound_if.keys():
        sides = [state.bound_if.get(name, name in state.names) for state in (left, right)]
        if False in sides:
            where = sides.index(False) ^ 1
            known = _all_parts(sides[where], alone[where])
        elif sides[0] == sides[1]:
            known = _all_parts(sides[0])
        elif test is None:
            known = _all_parts(sides[0], alone[0]) & _all_parts(sides[1], alone[1])
        else:
            known = _all_parts(conditional(test, sides[0], sides[1]))
        if known:
            found[name] = reduce(conjunction, known)
    return found


def _all_parts(bound: Literal | bool, assumed: PathCondition = NO_CONDITION) -> PathCondition:
    """Return all that holds where a name is bound, from its own condition and from what its path assumes."""
    if isinstance(bound, bool):
        return assumed
    parts = bound.formula.tests if bound.holds and isinstance(bound.formula, Conjunction) else frozenset((bound,))
    return assumed | parts


def _join_torch_states(one: State, other: State, test: Literal | None) -> TorchState:
    """Return the join of torch's settings and running accelerator work after either of two paths."""
    left, right = one.torch_state, other.torch_state
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
        autocast=left.autocast if left.autocast == right.autocast else UNKNOWN_AUTOCAST,
        current_device=left.current_device if left.current_device == right.current_device else ANY_ACCELERATOR,
        epoch=max(left.epoch, right.epoch),
        launches=max(left.launches, right.launches),
        unsynchronized=_join_running_work(left, right),
        last_wait=left.last_wait if left.last_wait is right.last_wait else None,
        equal_dtypes=left.equal_dtypes & right.equal_dtypes,
        process_group=_join_process_groups(left.process_group, right.process_group, test),
        in_flight=_join_copies(one, other) if left.in_flight or right.in_flight else left.in_flight,
    )


def _join_process_groups(
    left: ProcessGroup | None, right: ProcessGroup | None, test: Literal | None
) -> ProcessGroup | None:
    """Return the default process group after either of two paths.

    Where only one path has made the group, whoever uses it comes from there.
    """
    if left is None or right is None:
        return left or right
    return replace(left, backend=join(left.backend, right.backend, test))


def _join_copies(left: State, right: State) -> frozenset[CopyInFlight]:
    """Return the copies out of pinned memory that may be unfinished after either of two paths.

    A copy that only one path has in flight counts unless the other path has waited since, and as long as the path's
    conditions allow it.
    """
    found = left.torch_state.in_flight & right.torch_state.in_flight
    for one, other in ((left, right), (right, left)):
        if other.torch_state.epoch <= one.torch_state.epoch:
            found |= {copy for copy in one.torch_state.in_flight if conjoin(one.path_condition, copy.when) is not None}
    return found


def _join_running_work(left: TorchState, right: TorchState) -> RunningWork | None:
    """Return the newest accelerator work that may still be running after either of two paths.

    The result is None when one of the two paths has waited for the accelerator since they branched.
    """
    running = [one.unsynchronized for one in (left, right) if one.unsynchronized is not None]
    if left.epoch != right.epoch and len(running) < 2:
        return None
    newest = max((one.newest for one in running), key=_number, default=None)
    heavy = max((one.heavy for one in running if one.heavy is not None), key=_number, default=None)
    return RunningWork(newest, heavy) if newest is not None else None


def _number(launch: Launch) -> int:
    """Return the number of a launched operation."""
    return launch.number


def changed(before: State, after: State) -> set[str]:
    """Return the names whose values differ between two abstract states."""
    return {name for name, value in after.names.items() if before.names.get(name, UNKNOWN) != value}


def is_fixpoint(before: State, after: State, names: frozenset[str] | None = None) -> bool:
    """Return whether a loop body has reached its fixpoint: the last pass has changed nothing that it could read.

    `names` are the names that the body reads; None means that they are unknown and all names are compared.
    """
    if names is None:
        agree = before.names == after.names
    else:
        agree = all(before.names.get(name) == after.names.get(name) for name in names)
    if not agree or before.torch_state.default_device != after.torch_state.default_device:
        return False
    if before.torch_state.in_flight != after.torch_state.in_flight:
        return False
    return after.heap.is_unchanged_since(before.heap)
