"""Events: what the interpreter reports to the rules, one frozen record for each kind of occurrence.

Every event carries its `EventContext`: the source location, the scope, the path condition and the calls around it. The
interpreter attributes device conflicts to their cause, so that each kind is reported by exactly one rule.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field

import libcst as cst

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
from devlint.domain.record import record
from devlint.domain.storage import CopyInFlight
from devlint.domain.value import FactoryOrigin, HostCopy, PendingCopy, Rank, Tensor, Value
from devlint.interpreter.program.container_entries import is_one_of_entries
from devlint.interpreter.program.joined_elements import joining_function
from devlint.interpreter.state.hot_code import (
    is_in_branch_of_hot_code,
    is_paid_for_inner_loop,
    repeater,
    runs_often_in_step,
    stands_beside_files,
)
from devlint.interpreter.state.training_steps import is_in_training, is_in_training_step


@record(frozen=True, slots=True)
class CallOnStack:
    """One entry of the call stack at an event.

    `place` is the source location of the call, `name` the callee's name, `causes` the steps that put the arguments on
    their devices. `is_module` is true for the call of an nn.Module, which is then the `receiver`.
    """

    place: Place
    name: str
    causes: frozenset[Step]
    is_module: bool = False
    receiver: Value | None = field(default=None, compare=False)


@record(frozen=True, slots=True)
class EventContext:
    """The context of an event: its source location, scope, path condition, call stack and innermost loop.

    `calls` are the calls being run, outermost first. `symbolic` is true when the code was entered with symbolic
    arguments, as an unknown caller passes them. `idle` is true where the host has waited for the accelerator and has
    launched nothing since. `supposed` are conditions that no branch of the code asks for: one of several values is what
    the event is about.
    """

    place: Place
    scope: Scope
    path_condition: PathCondition = NO_CONDITION
    calls: tuple[CallOnStack, ...] = ()
    loop: Loop | None = None
    symbolic: bool = False
    idle: bool = False
    supposed: PathCondition = NO_CONDITION

    @property
    def hot(self) -> bool:
        """Whether the code of the event runs again and again, so that what it costs matters; computed when asked."""
        return self.repeater is not None

    @property
    def many_times(self) -> bool:
        """Whether the code of the event is hot by more than a loop that ends after a hundred iterations at most."""
        return repeater(self.place, self.scope, self.loop, short=False) is not None

    @property
    def repeater(self) -> Loop | Scope | None:
        """The loop, or the run of a function called for each batch, that runs the code of the event again and again."""
        return repeater(self.place, self.scope, self.loop)

    @property
    def paid_for_inner_loop(self) -> bool:
        """Whether the code of the event runs once for all iterations of a loop beside it; computed when asked."""
        return is_paid_for_inner_loop(self.place, self.scope, self.loop)

    @property
    def beside_files(self) -> bool:
        """Whether the loop that repeats the code of the event handles a file in each iteration; computed when asked."""
        return stands_beside_files(self.place, self.scope, self.loop)

    @property
    def often_in_step(self) -> bool:
        """Whether the code of the event runs many times for each batch, step or request; computed when asked."""
        return runs_often_in_step(self.place, self.scope, self.loop)

    @property
    def in_branch(self) -> bool:
        """Whether the code of the event stands in a branch of the code that runs again and again."""
        return is_in_branch_of_hot_code(self.place, self.scope, self.loop)

    @property
    def in_training_step(self) -> bool:
        """Whether the code of the event runs in each step of a training loop; computed when asked."""
        return is_in_training_step(self.place, self.scope, self.loop)

    @property
    def in_training(self) -> bool:
        """Whether the code of the event, or what has called it, takes training steps; computed when asked."""
        return is_in_training(self.scope)


@record(frozen=True, slots=True)
class Event:
    """An occurrence in the analysed program that rules may report; the base class of all events.

    `context.place` is the source location at which the event is reported.
    """

    context: EventContext


@record(frozen=True, slots=True)
class Operand:
    """One tensor operand of an operation in an event.

    `name` is the name of the parameter that the operand is passed to, `place` the source location of its expression,
    and `case` the one case of a conditional placement that the event is about.
    """

    name: str
    place: Place
    tensor: Tensor
    case: PlacementCase = field(default_factory=PlacementCase)
    of_module: str | None = None
    """The name of the module whose parameters are meant, when they are the implicit operand of a module call."""
    inside: bool = False
    """Whether the tensor is an element of the container at `place`, not the value of that expression itself."""

    @property
    def is_part_of_module(self) -> bool:
        """Whether the operand stands for a module's parameters, or was made while a module was constructed."""
        step = self.case.placing_step
        return self.of_module is not None or (step is not None and step.scope is not None and step.scope.construction)


@record(frozen=True, slots=True)
class DeviceConflict(Event):
    """An operation with tensor operands on two devices; the base class of all events about such conflicts.

    `misplaced` is the operand that should be moved (the one on the host, if there is one) and `reference` an operand on
    the device to move it to. `when` are the conditions, besides the path condition, under which the devices differ.
    `device_expressions` are the program's expressions that name a device at the operation. `further` is true where the
    conflict of another operand of the same operation is reported too, at the operation. `unseen` is true for a call of
    a module whose code is not known: what it does with its inputs is not known either.
    """

    operation: str
    misplaced: Operand
    reference: Operand
    when: PathCondition = NO_CONDITION
    device_expressions: tuple[DeviceExpression, ...] = field(default=(), kw_only=True)
    further: bool = field(default=False, kw_only=True)
    unseen: bool = field(default=False, kw_only=True)

    @property
    def reported(self) -> Place:
        """The source location of a finding about the operation: the operation, or the further misplaced operand."""
        return self.misplaced.place if self.further else self.context.place


@record(frozen=True, slots=True)
class OperandConflict(DeviceConflict):
    """A device conflict without a more specific cause, so that the operation itself is reported (DEV101).

    `supposes_dimension` is true where the operation takes the misplaced tensor if it is 0-dim, which is not known.
    """

    supposes_dimension: bool = field(default=False, kw_only=True)


@record(frozen=True, slots=True)
class ModuleInputConflict(DeviceConflict):
    """A call of an nn.Module whose parameters are on one device with an input tensor on another (DEV102)."""

    module_call: CallOnStack | None = field(default=None, kw_only=True)


@record(frozen=True, slots=True)
class PlainAttributeConflict(DeviceConflict):
    """A device conflict caused by a plain tensor attribute, which its module's `.to()` does not move (DEV103).

    `stored` is the step that stored the tensor in the attribute.
    """

    stored: Step = field(kw_only=True)


@record(frozen=True, slots=True)
class PlainContainerConflict(DeviceConflict):
    """A device conflict caused by a module or parameter in a plain list or dict, which `.to()` does not move (DEV104).

    `misplaced` is that module or parameter, on whichever device it is; `kept` is the step that made the list or dict
    (the container) an attribute of a module.
    """

    kept: Step = field(kw_only=True)


@record(frozen=True, slots=True)
class FactoryConflict(DeviceConflict):
    """A device conflict caused by a factory call without `device=` in code meant for any device (DEV105).

    `created` is the step of the factory call in the history of the misplaced tensor.
    """

    created: Step = field(kw_only=True)


@record(frozen=True, slots=True)
class CacheConflict(DeviceConflict):
    """An operation on a cached tensor and a tensor on another device (DEV115).

    `cached` is the step that put the tensor into the cache or returned it from there.
    """

    cached: Step = field(kw_only=True)


@record(frozen=True, slots=True)
class IndexConflict(DeviceConflict):
    """A host tensor indexed by an accelerator tensor (DEV107); `reference` is the index tensor."""


@record(frozen=True, slots=True)
class HostIndex(Event):
    """An index on the host into a tensor on an accelerator, to which torch copies the index first (DEV410).

    `base` is the tensor that is indexed, `kind` what the index is: a tensor, a mask, an array or a list. `when` are the
    conditions, besides the path condition, under which the two are there. `created` is the step that created an index
    that is a tensor.
    """

    base: Operand
    index: Place
    kind: str
    when: PathCondition = NO_CONDITION
    created: Step | None = None


@record(frozen=True, slots=True)
class GeneratorConflict(DeviceConflict):
    """A call that draws random numbers on one device with a `torch.Generator` of another (DEV109).

    The two operands stand for the generator (`generator`) and for the tensor that is drawn.
    """

    generator: Operand = field(kw_only=True)
    drawn: Operand = field(kw_only=True)


@record(frozen=True, slots=True)
class OptimizerStateConflict(DeviceConflict):
    """A step of an optimizer whose state lies on another device than the parameters (DEV114).

    `misplaced` stands for the state and `reference` for a parameter. `made` is the call that made the state.
    """

    made: Step = field(kw_only=True)


@record(frozen=True, slots=True)
class HostOnlyOperand(Event):
    """An accelerator tensor passed to an operation that accepts only host tensors (DEV108)."""

    operation: str
    operand: Operand
    when: PathCondition = NO_CONDITION


@record(frozen=True, slots=True)
class PinnedAcceleratorTensor(Event):
    """A tensor on an accelerator that is to be copied into pinned memory of the host (DEV110).

    `asked` is the code that asks for pinned memory, such as `.pin_memory()` or `pin_memory=True`, and `operand` the
    tensor. Where a loader is to pin it, `loader` is the call that made the loader; the tensor is part of a batch then.
    """

    asked: str
    operand: Operand
    when: PathCondition = NO_CONDITION
    loader: Place | None = None


@record(frozen=True, slots=True)
class AcceleratorInWorker(Event):
    """An accelerator that is used where a loader makes its batches, in worker processes that are forked (DEV111).

    `touched` is the code that puts a tensor on the accelerator, `case` where the tensor is under the conditions `when`,
    and `workers` the step that gives the loader its workers.
    """

    touched: Place
    case: PlacementCase
    workers: Step
    when: PathCondition = NO_CONDITION


@record(frozen=True, slots=True)
class HostTensorInCollective(Event):
    """A host tensor passed to a collective of a process group whose backend takes only accelerator tensors (DEV116).

    `made` is the step that made the group, with the conditions `when` under which it has that `backend`.
    """

    operation: str
    operand: Operand
    backend: str
    made: Step
    when: PathCondition = NO_CONDITION


@record(frozen=True, slots=True)
class DtypeConflict(Event):
    """An operation that does not promote dtypes, with two operands of different dtypes (DEV301, DEV302).

    With `into`, the operation promotes, and writes its result into the left operand, whose dtype cannot take it. `when`
    are the conditions, besides the path condition, under which the operands have these dtypes.
    """

    operation: str
    left: Operand
    right: Operand
    into: bool = False
    when: PathCondition = NO_CONDITION


@record(frozen=True, slots=True)
class HalfOnHost(Event):
    """An operation that computes with a float16 tensor on the host (DEV307)."""

    operation: str
    operand: Operand


@record(frozen=True, slots=True)
class Float64Work(Event):
    """An operation that computes in float64 on an accelerator, with an operand that the transfer `moved` put there."""

    operation: str
    operand: Operand
    moved: Step


@record(frozen=True, slots=True)
class RefusedTargetDtype(Event):
    """A call of a loss function with a target whose dtype the loss function does not accept (DEV304)."""

    loss: str
    operand: Operand
    accepted: tuple[str, ...]


@record(frozen=True, slots=True)
class RefusedIndexDtype(Event):
    """A tensor passed for an index or mask whose dtype the operation does not accept there (DEV305).

    `when` are the conditions, besides the path condition, under which the tensor has that dtype.
    """

    operation: str
    operand: Operand
    accepted: tuple[str, ...]
    when: PathCondition = NO_CONDITION


@record(frozen=True, slots=True)
class Repetition:
    """A loop that makes the same transfer in every iteration: receiver and target stay the same.

    `place` is what the loop's code says: the transfer itself, or the call of a function that transfers its argument.
    `path_condition` is the condition there.
    """

    loop: Loop
    place: Place
    path_condition: PathCondition


@record(frozen=True, slots=True)
class Transfer(Event):
    """A transfer or cast of a tensor or module (`x.to(device)`, `x.half()`) whose result is used.

    `method` is the name of the method that was called. `before` and `after` are the placements, `dtype_before` and
    `dtype_after` the dtypes (those of the parameters for a module).

    `moves` is false for a cast, which asks for no device; `casts` is true when a dtype or a memory order is asked for;
    `copies` is true when `copy=True` is passed. `repetition` is the loop that makes the same transfer in each
    iteration, if there is one. `previous_transfer` is the transfer that returned exactly this tensor. `only_use` is
    true when nothing else reads the receiver, `single_use` when the result is read at most once, `unread` when it gets
    a name that nothing reads, `cast_at_once` when the code around the transfer casts what it returns before it computes
    with it. `rank` is what is known of the receiver's number of dimensions. `host_copy` is the call that made the
    receiver by pinning or casting another tensor just for this transfer.
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
    repetition: Repetition | None = None
    in_place: bool = False
    moves: bool = True
    casts: bool = False
    grad: bool | None = None
    parameter: bool = False
    previous_transfer: Step | None = None
    only_use: bool = False
    single_use: bool = False
    unread: bool = False
    cast_at_once: bool = False
    rank: Rank = Rank.ANY
    host_copy: HostCopy | None = None

    @property
    def joined_by(self) -> str | None:
        """The function that joins the results of this transfer, made one by one in a comprehension, if there is one."""
        code, node = self.context.scope.body, self.context.place.node
        if not isinstance(code, cst.CSTNode) or not isinstance(node, cst.CSTNode):
            return None
        return joining_function(code, node)

    @property
    def is_of_entries(self) -> bool:
        """Whether the call transfers the entries of a container one by one, which may have different dtypes."""
        return is_one_of_entries(self.receiver)

    @property
    def few_elements(self) -> bool:
        """Whether the receiver was just made with few elements, by the sizes that its factory's call asks for."""
        return self.fresh is not None and self.fresh.extent is not None and self.fresh.extent.is_tiny

    @property
    def number_or_vector(self) -> bool:
        """Whether the receiver has at most one dimension, and is not known to be long."""
        extent = self.fresh.extent if self.fresh is not None else None
        return self.rank in (Rank.ZERO, Rank.ONE) and (extent is None or extent.is_tiny)


@record(frozen=True, slots=True)
class OpaqueTransfer(Transfer):
    """A transfer (`.to(device)`) of an unknown value.

    Only the target of the transfer is known, not the type of the value or its placement before.
    """


@record(frozen=True, slots=True)
class RepeatedTransfer(Event):
    """A transfer of a tensor of unknown origin that is the same in every iteration of a loop.

    Where the tensor is before is unknown, `after` is the placement that `method` is asked for.
    """

    method: str
    receiver: Place
    after: Placement
    repetition: Repetition


@record(frozen=True, slots=True)
class TensorRebuilt(Event):
    """A factory call that copies a tensor or array into a new tensor, such as `torch.tensor(t.cpu().numpy())`."""

    function: str
    source: Value
    origin: FactoryOrigin | None = None
    placement: Placement = UNKNOWN_PLACEMENT
    only_use: bool = False


@record(frozen=True, slots=True)
class DiscardedResult(Event):
    """A call whose result is discarded although it changes nothing in place, such as `x.to(device)` as a statement."""

    method: str
    receiver: Place
    tensor: Tensor
    timed: bool = False
    """Whether the code around reads a clock: waiting may then be the purpose of the call."""
    casts: bool = False
    """Whether the result has another dtype than the receiver."""
    idle: bool = False
    """Whether the receiver is already there, whoever calls the code."""
    supposed: bool = False
    """Whether only the uses of the receiver show that it is a tensor: its class is not known."""


@record(frozen=True, slots=True)
class UnusedRebinding(Event):
    """An assignment such as `x = x.to(device)` to a loop variable or parameter that is not read afterwards.

    `loop` is the source location of the loop whose variable the name is; None for a parameter.
    """

    name: str
    method: str
    tensor: Tensor
    loop: Place | None = None


@record(frozen=True, slots=True)
class DevicesCompared(Event):
    """A comparison of a device, or of a string that may name one, with a device or a string.

    `left_written` and `right_written` are the device strings that the two operands write out, directly or inside
    `torch.device(...)`.
    """

    operator: str
    left: Value
    right: Value
    right_written: str | None = None
    left_written: str | None = None


@record(frozen=True, slots=True)
class InvalidDeviceUsed(Event):
    """A device string that torch refuses; `written` is its text in the program, `reason` why it is invalid.

    `of_host` is true for the host where a transfer takes accelerators only, as `.cuda("cpu")` does.
    """

    written: str
    reason: str
    of_host: bool = False


@record(frozen=True, slots=True)
class HostRead(Event):
    """A read of a tensor's values by the host: `.numpy()`, `np.mean(t)`, `.item()`, `print(t)`, `if t:`."""

    reader: str
    tensor: Tensor
    operand: Place
    needs_host: bool = False
    needs_no_grad: bool = False
    unfinished: PendingCopy | None = None
    grad_enabled: bool = True
    inside: bool = False
    """Whether the tensor is an element of the container at `operand`."""
    array: Place | None = None
    """The array that the tensor is combined with, which is why NumPy reads the tensor."""
    chosen: tuple[PathCondition, PlacementCase] | None = None
    """The case in which the program has put the tensor on a device of its caller's choice, with the case's literals."""


@record(frozen=True, slots=True)
class SharedWrite(Event):
    """An in-place write to memory that another name still uses.

    `name` is the name that the write goes through, `other` the other name (None: the caller's argument). `shared` is
    the step that returned the same memory instead of a copy. It does so always (`surely`), or only where it has nothing
    to do; `when` are the conditions for that, as far as they are known.
    """

    name: str
    other: str | None
    shared: Step
    when: PathCondition
    surely: bool


@record(frozen=True, slots=True)
class OverwrittenCopy(Event):
    """A write of the host to pinned memory out of which a non_blocking copy to an accelerator may be running (DEV504).

    `target` is the expression that is written to, `copy` the copy.
    """

    target: Place
    copy: CopyInFlight


@record(frozen=True, slots=True)
class MovedLeaf(Event):
    """A use of the moved copy of a leaf tensor or Parameter as if the copy were a leaf of autograd too.

    `moved` is the transfer, `parameter` is true for a Parameter, and `use` describes the use in words.
    """

    moved: Step
    parameter: bool
    use: str
    replaces: bool = False
    """Whether the result replaces the leaf that an optimizer trains."""


@record(frozen=True, slots=True)
class UnsynchronizedTiming(Event):
    """Two clock reads around accelerator work that the program does not wait for before the second read.

    The source location of the event is the second read; `started` is that of the first, `work` the newest heavy
    accelerator operation between them, or the newest one where none is heavy. `started_in` and `read_in` are the runs
    of the code that reads the clock first and second. `beside_events` is true where the file measures by events of the
    accelerator as well.
    """

    started: Place
    work: Step
    started_in: Scope | None = None
    read_in: Scope | None = None
    beside_events: bool = False


@record(frozen=True, slots=True)
class Synchronize(Event):
    """A call that waits for the accelerator, such as `torch.cuda.synchronize()`.

    If the call is needless, because nothing has been launched since the host last waited, `waited` is the step of that
    wait; otherwise it is None.
    """

    waited: Step | None


@record(frozen=True, slots=True)
class DataUploaded(Event):
    """Data of the host that a factory such as `torch.tensor` copies to an accelerator: the host waits for the copy."""


@record(frozen=True, slots=True)
class DeviceAtHand:
    """The source text of an expression that gives a device: a `torch.device`, or a string where `is_text`."""

    text: str
    is_text: bool = False


@record(frozen=True, slots=True)
class HardCodedAccelerator(Event):
    """An accelerator written out in the program: `.cuda()`, `device="cuda"`, `autocast("cuda")`.

    Messages show it as `form`, with the source code at `quoted` in place of `{}`. `guarded` is true where the code runs
    only after a check of the device, such as `torch.cuda.is_available()`. `chosen` is the device that the program
    chooses, where it has a name in scope, `neighbour` that of a tensor or module for which the code makes or moves a
    tensor.
    """

    form: str
    quoted: Place | None
    guarded: bool
    choosable: bool = False
    """Whether a parameter of the function or its class lets the caller choose the device."""
    type: str = ""
    """The type of the device, such as "cuda"."""
    index: int = 0
    """The index of the device as far as it is written out, else 0."""
    chosen: DeviceAtHand | None = None
    neighbour: DeviceAtHand | None = None
    owner: str = ""
    """The name of the class whose method the code is in; empty outside of methods."""


@record(frozen=True, slots=True)
class ChosenAccelerator(Event):
    """A string that names an accelerator, of a device `type`, which a path assigns, returns or chooses."""

    type: str


@record(frozen=True, slots=True)
class AcceleratorNameUsed(Event):
    """A use of a member of torch's modules about accelerators: `torch.cuda.synchronize`, `torch.accelerator.Stream`.

    `name` is the qualified name. `called` is true for the callee of a call, `imported` for an import. `expected` is
    true where the program handles that the name is missing, `guarded` where the code runs only after a check of the
    backend. `chosen` is true for a name of `torch.cuda` in a file that chooses its device while it runs. `seeded` is
    true for a seed of CUDA beside that of torch, which seeds every device, `told` for a figure that code only prints or
    logs, and for what measures made-up data on CUDA. `statement` is the innermost statement that the use is part of.
    """

    name: str
    statement: Place
    called: bool
    expected: bool
    guarded: bool
    imported: bool = False
    chosen: bool = False
    seeded: bool = False
    told: bool = False


@record(frozen=True, slots=True)
class BackendWrittenOut(Event):
    """A call that names a backend: `init_process_group("nccl")`, `autocast("cuda")`, `torch.cuda.amp.autocast()`.

    `function` is the qualified name of what is called, `backend` what is named. `chosen` is true in a file that chooses
    its device while it runs, `guarded` where the code runs only after a check of the device. `keyword` and `position`
    are those of the argument that names the backend, and `argument` is its place; None where the function's name does.
    `device` is the device that the program chooses, where it has a name in scope.
    """

    function: str
    backend: str
    chosen: bool
    guarded: bool
    keyword: str
    position: int
    argument: Place | None
    device: DeviceAtHand | None = None


@record(frozen=True, slots=True)
class LoadedWhereSaved(Event):
    """A call that loads a checkpoint and says not where to: its tensors go to the device on which they were saved.

    `function` is the qualified name of what is called, `position` that of its argument `map_location`. `guarded` is
    true where the code runs only after a check of a device.
    """

    function: str
    position: int
    guarded: bool


@record(frozen=True, slots=True)
class IgnoredDeviceArgument(Event):
    """A tensor that a function makes or moves without its parameter `parameter`, which no code of the function reads.

    `function` is the function's name and `defined` the source location of its definition.
    """

    parameter: str
    function: str
    defined: Place


@record(frozen=True, slots=True)
class RefusedOnBackend(Event):
    """A tensor that is made or cast with a dtype that its device's backend does not have.

    `case` is the case of the placement that is on that device, `when` the conditions for it.
    """

    dtype: Dtype
    case: PlacementCase
    when: PathCondition


@record(frozen=True, slots=True)
class LegacyTypeUsed(Event):
    """A use of what torch had before it had devices and dtypes: `x.type("torch.cuda.FloatTensor")`, `Variable(x)`.

    `name` is the old name.
    """

    name: str


@record(frozen=True, slots=True)
class AcceleratorMayBeNone(Event):
    """A use of `torch.accelerator.current_accelerator()` that fails where it returns None, because there is none.

    `use` describes the use in words, `asked` is the step of the call that returns the accelerator. `guarded` is true
    where the code runs only after a check that there is an accelerator.
    """

    use: str
    asked: Step | None
    guarded: bool


@record(frozen=True, slots=True)
class ModuleTensors:
    """The parameters and buffers that a module holds when the program asks for it, as far as they are known."""

    parameters: tuple[Tensor, ...]
    buffers: tuple[Tensor, ...]


@record(frozen=True, slots=True)
class ContainerParts:
    """What a container holds when the program asks for it.

    `kind` is "dict", "tuple", "list" or another kind of sequence. Each of the `parts` has its key or index (an ellipsis
    stands for all others), its value, and what it holds itself. `is_whole` is true where there are no other parts.
    """

    kind: str
    parts: tuple[tuple[Hashable, Value, ModuleTensors | ContainerParts | None], ...]
    is_whole: bool


@record(frozen=True, slots=True)
class RevealedValue(Event):
    """A call of `reveal_placement(expr)` in the program, with the abstract value of `expr`, and what that holds."""

    value: Value
    text: str
    contents: ModuleTensors | ContainerParts | None = None


@record(frozen=True, slots=True)
class BrokenFile:
    """A file, or a part of one, that devlint could not read or parse."""

    filename: str
    message: str
    row: int = 1
    column: int = 1


@record(frozen=True, slots=True)
class UnreadSuppression:
    """A comment in a checked file that is meant to suppress findings and is not understood (DEV903)."""

    filename: str
    row: int


@record(frozen=True, slots=True)
class IdleSuppression:
    """A suppression comment in a checked file that suppresses no finding (DEV901).

    `words` are the rule names in the comment's list that suppress nothing; empty when the whole comment suppresses
    nothing.
    """

    filename: str
    row: int
    words: frozenset[str] = frozenset()
