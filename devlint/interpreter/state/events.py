"""What the flow floor tells the rules: one frozen record for each kind of thing that happened to a tensor.

Every event carries its `EventContext`: where, in which code, under which conditions, through which calls. Conflicts
arrive already attributed to their cause, so that each is the business of exactly one rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from devlint.domain.dtype import Dtype
from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    DeviceExpression,
    Loop,
    Place,
    Placement,
    PlacementCase,
    Scope,
    Step,
)
from devlint.domain.value import FactoryOrigin, PendingCopy, Tensor, Value


@dataclass(frozen=True, slots=True)
class CallOnStack:
    """One call on the way: where it stands, what it calls, and the steps that placed its arguments."""

    place: Place
    name: str
    causes: frozenset[Step]
    is_module: bool = False
    receiver: Value | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class EventContext:
    """The circumstances of an event. `calls` are the calls being run, outermost first."""

    place: Place
    scope: Scope
    path_condition: PathCondition = NO_CONDITION
    calls: tuple[CallOnStack, ...] = ()
    loop: Loop | None = None
    generic: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened at `context.place`."""

    context: EventContext


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor of an operation: its parameter name, its expression, and the leaf of its placement in question."""

    name: str
    place: Place
    tensor: Tensor
    leaf: PlacementCase = field(default_factory=PlacementCase)
    of_module: str | None = None
    """The module whose parameters it is, when it is the implicit operand of a module call."""
    inside: bool = False
    """Whether it is something in the container at `place`, and not what stands there itself."""


@dataclass(frozen=True, slots=True)
class DeviceConflict(Event):
    """An operation met tensors on two devices.

    `when` are the further conditions; `misplaced` is the operand to be moved.

    `misplaced` is the one on the host where there is one, `other` the one it should have joined; `wordings` are the
    devices at hand where they meet.
    """

    operation: str
    misplaced: Operand
    other: Operand
    when: PathCondition = NO_CONDITION
    wordings: tuple[DeviceExpression, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class OperandConflict(DeviceConflict):
    """No better explanation: the operation itself is where the reader must look (DEV101)."""


@dataclass(frozen=True, slots=True)
class ModuleInputConflict(DeviceConflict):
    """A module on one device was called with an input on another (DEV102)."""

    module_call: CallOnStack | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class PlainAttributeConflict(DeviceConflict):
    """A plain tensor attribute of a module stayed behind (DEV103). `stored` is the step that stored it."""

    stored: Step = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class PlainContainerConflict(DeviceConflict):
    """A module, or a parameter, kept in a plain container stayed behind (DEV104): `misplaced`, wherever it is.

    `kept` is the step that made the container an attribute.
    """

    kept: Step = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class FactoryConflict(DeviceConflict):
    """A factory without `device=` in code meant for any device (DEV105). `created` is its step."""

    created: Step = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class CacheConflict(DeviceConflict):
    """A cached tensor met one on another device (DEV115). `cached` is the step that cached it."""

    cached: Step = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class IndexConflict(DeviceConflict):
    """A host tensor was indexed by an accelerator tensor (DEV107); `other` is the index."""


@dataclass(frozen=True, slots=True)
class HostOnlyOperand(Event):
    """An accelerator tensor stands where only a host tensor is accepted (DEV108)."""

    operation: str
    operand: Operand
    when: PathCondition = NO_CONDITION


@dataclass(frozen=True, slots=True)
class DtypeConflict(Event):
    """Two dtypes met where the operation does not promote (DEV301, DEV302)."""

    operation: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class RefusedTargetDtype(Event):
    """A loss was given a target whose dtype it refuses (DEV304)."""

    loss: str
    operand: Operand
    accepted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transfer(Event):
    """A tensor, or a module, was asked to go somewhere (or to take another dtype) by `method`, and what comes out is
    used.

    `before` and `after` are its placements; `dtype_before`/`dtype_after` its dtypes (the parameters' for a module).
    `invariant` tells that receiver and target are the same in every iteration of `context.loop`; `moves` is false for a
    cast, which asks for no device; `casts` that it asks for a dtype, or for another order in memory; `copies` that
    `copy=True` was asked for; `untouched` is the transfer that handed out exactly this tensor; `only_use` tells that
    nothing else reads the receiver, `single_use` that what comes out goes one way only.
    """

    method: str
    receiver: Place
    is_module: bool
    before: Placement
    after: Placement
    dtype_before: Dtype
    dtype_after: Dtype
    fresh: FactoryOrigin | None = None
    pinned: bool | None = None
    non_blocking: bool | None = False
    copies: bool = False
    invariant: bool = False
    in_place: bool = False
    moves: bool = True
    casts: bool = False
    grad: bool | None = None
    parameter: bool = False
    untouched: Step | None = None
    only_use: bool = False
    single_use: bool = False


@dataclass(frozen=True, slots=True)
class OpaqueTransfer(Transfer):
    """The same of something unknown: only where it goes is known, not what it is nor where it was."""


@dataclass(frozen=True, slots=True)
class TensorRebuilt(Event):
    """A tensor was rebuilt by a factory from a tensor or an array (`torch.tensor(t.cpu().numpy())`)."""

    function: str
    source: Value
    origin: FactoryOrigin | None = None
    placement: Placement = UNKNOWN_PLACEMENT
    only_use: bool = False


@dataclass(frozen=True, slots=True)
class DiscardedResult(Event):
    """The result of a call that changes nothing in place was thrown away."""

    method: str
    receiver: Place
    tensor: Tensor
    timed: bool = False
    """Whether the code around reads a clock: waiting may then be the point of the call."""
    casts: bool = False
    """Whether the result has another dtype."""


@dataclass(frozen=True, slots=True)
class UnusedRebinding(Event):
    """A name was rebound to the moved value and that value is never read: a loop variable, or an argument."""

    name: str
    method: str
    tensor: Tensor
    loop: Place | None = None


@dataclass(frozen=True, slots=True)
class DevicesCompared(Event):
    """A device, or a string that may name one, was compared by `operator` with a device or a string."""

    operator: str
    left: Value
    right: Value
    right_written: str | None = None
    left_written: str | None = None


@dataclass(frozen=True, slots=True)
class InvalidDeviceUsed(Event):
    """A device that cannot exist."""

    written: str
    reason: str


@dataclass(frozen=True, slots=True)
class HostRead(Event):
    """The host read a tensor's values: `.numpy()`, `np.mean(t)`, `.item()`, `print(t)`, `if t:`."""

    reader: str
    tensor: Tensor
    operand: Place
    needs_host: bool = False
    needs_no_grad: bool = False
    unfinished: PendingCopy | None = None
    grad_enabled: bool = True
    inside: bool = False
    """Whether the tensor is something in the container at `operand`."""
    array: Place | None = None
    """The array it is computed with: NumPy reads the tensor for its sake."""


@dataclass(frozen=True, slots=True)
class SharedWrite(Event):
    """Memory was written in place under `name`, while it is still in use as `other` (None: as what the caller gave).

    `shared` is the step that handed on the same memory: `surely`, or when nothing had to be done; `when` are the
    conditions known for that.
    """

    name: str
    other: str | None
    shared: Step
    when: PathCondition
    surely: bool


@dataclass(frozen=True, slots=True)
class MovedLeaf(Event):
    """A leaf tensor or a Parameter was moved, and the result used as if it still were one."""

    moved: Step
    parameter: bool
    use: str
    replaces: bool = False
    """Whether it takes the place of the leaf that an optimizer trains."""


@dataclass(frozen=True, slots=True)
class UnsynchronizedTiming(Event):
    """Two clock reads around accelerator work with nothing that waits. The event stands at the second."""

    started: Place
    work: Step


@dataclass(frozen=True, slots=True)
class Synchronize(Event):
    """A synchronisation. `waited` is where the host has just waited and launched nothing since; None where there is
    something to wait for, as far as is known."""

    waited: Step | None


@dataclass(frozen=True, slots=True)
class HardCodedAccelerator(Event):
    """An accelerator was written out: `.cuda()`, `device="cuda"`, `autocast("cuda")`."""

    written: str
    guarded: bool
    choosable: bool = False
    """Whether a parameter of the function or of its class lets the caller choose the device."""


@dataclass(frozen=True, slots=True)
class RevealedValue(Event):
    """The program asked `reveal_placement(expr)`."""

    value: Value
    text: str


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file, or a part of one, that could not be read or parsed."""

    filename: str
    message: str
    row: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class IdleSuppression:
    """A comment that silences nothing: some words of its list, or all of it (DEV901)."""

    filename: str
    row: int
    words: frozenset[str] = frozenset()
