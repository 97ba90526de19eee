"""Moving and casting: `.to` and its relatives, on tensors and on modules."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from devlint.domain.device import (
    ANY_INDEX,
    CPU,
    DeviceRelation,
    DeviceSymbol,
    KnownDevice,
    is_accelerator,
    is_host,
    relate_devices,
)
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, is_floating
from devlint.domain.join import join_dtypes
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    join_under,
    map_cases,
    newest_step,
    placement_cases,
)
from devlint.domain.torch_names import ACCELERATOR_METHODS, CAST_METHODS
from devlint.domain.value import (
    ConditionalValue,
    Const,
    DtypeValue,
    LibraryName,
    OpaqueData,
    Ref,
    Tensor,
    TypeName,
    Unknown,
    Value,
)
from devlint.interpreter.objects.module_state import module_tensors, move_registered_tensors
from devlint.interpreter.objects.plain_attributes import is_registered_parameter
from devlint.interpreter.operations.aliasing import storage_after_transfer
from devlint.interpreter.operations.device_arguments import (
    is_absent_or_none,
    report_hard_coded_device,
    requested_placement,
    resolve_device_index,
)
from devlint.interpreter.operations.dtype_arguments import is_dtype_argument
from devlint.interpreter.operations.synchronization import pending_copy, unfinished_copy
from devlint.interpreter.operations.tensor_types import legacy_type
from devlint.interpreter.program.liveness import varies_in_loop
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import DiscardedResult, HostRead, InvalidDeviceUsed, OpaqueTransfer, Transfer
from devlint.interpreter.state.frame import Frame


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """What a transfer asks for; None leaves that side as it is."""

    placement: Placement | None
    dtype: Dtype | None
    non_blocking: bool | None = False
    device_node: cst.BaseExpression | None = None
    copies: bool = False
    reorders: bool = False


def read_transfer_request(
    frame: Frame, method: str, arguments: Arguments, node: cst.CSTNode, moved: Placement = UNKNOWN_PLACEMENT
) -> TransferRequest:
    """Read a transfer's arguments; `moved` is where the tensor has been."""
    source = next((leaf.placing_step for _, leaf in placement_cases(moved) if leaf.placing_step is not None), None)
    step = replace(frame.step(StepKind.MOVED, f"moved by .{method}()", node), source=source)
    non_blocking = _flag(arguments, "non_blocking", {"to": 2, "cuda": 1, "xpu": 1}.get(method))
    if method in CAST_METHODS:
        return TransferRequest(None, Dtype(CAST_METHODS[method], DtypeSource.EXPLICIT, step))
    if method == "cpu":
        return TransferRequest(PlacementCase(CPU, Basis.EXPLICIT, step), None)
    if method in ACCELERATOR_METHODS:
        return _to_accelerator(frame, method, arguments, step, non_blocking)
    if method == "type":
        return _as_type(frame, arguments.value("dtype", 0) or arguments.value("dst_type"), step)
    if method == "type_as":
        other = arguments.get("other", 0)
        return _like(frame, other, step) if other is not None else TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
    return _to(frame, arguments, step, non_blocking)


def _flag(arguments: Arguments, name: str, position: int | None) -> bool | None:
    value = arguments.constant(name, position, False)
    return value if isinstance(value, bool) else None


def _to_accelerator(
    frame: Frame, method: str, arguments: Arguments, step: Step, non_blocking: bool | None
) -> TransferRequest:
    device = arguments.get("device", 0)
    report_hard_coded_device(frame, Const(method), arguments.node, f".{method}()")
    if device is None or is_absent_or_none(device.value):
        if not arguments.complete:
            return TransferRequest(UNKNOWN_PLACEMENT, None, non_blocking)
        return TransferRequest(
            PlacementCase(resolve_device_index(frame, KnownDevice(method)), Basis.EXPLICIT, step), None, non_blocking
        )
    if isinstance(device.value, Const) and isinstance(device.value.value, str) and device.value.value.startswith("cpu"):
        reason = f".{method}() takes an accelerator, not {device.value.value!r}"
        frame.emit(InvalidDeviceUsed(frame.event_context(device.node), device.value.value, reason))
        return TransferRequest(UNKNOWN_PLACEMENT, None, non_blocking)
    there = map_cases(
        requested_placement(frame, device.value, device.node, step), lambda leaf: _accelerated(leaf, method)
    )
    return TransferRequest(there, None, non_blocking, device.node)


def _accelerated(leaf: PlacementCase, type_: str) -> PlacementCase:
    """A device that only has a name: whichever it is, it is an accelerator of this type."""
    return (
        replace(leaf, device=KnownDevice(type_, ANY_INDEX), basis=Basis.EXPLICIT)
        if isinstance(leaf.device, DeviceSymbol)
        else leaf
    )


def _as_type(frame: Frame, value: Value | None, step: Step) -> TransferRequest:
    """What `.type(value)` asks for: a legacy type names a device too."""
    match value:
        case DtypeValue(dtype=dtype):
            return TransferRequest(None, replace(dtype, source=DtypeSource.EXPLICIT))
        case TypeName(placement=placement, dtype=dtype):
            placed = map_cases(placement, lambda leaf: replace(leaf, provenance=step, basis=Basis.EXPLICIT))
            return TransferRequest(placed, replace(dtype, source=DtypeSource.EXPLICIT))
        case LibraryName(name=name) | Const(value=str(name)):
            found = legacy_type(frame, name, step)
            return TransferRequest(*found) if found is not None else TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
        case ConditionalValue(test=test, yes=yes, no=no):
            one, other = _as_type(frame, yes, step), _as_type(frame, no, step)
            dtype = join_dtypes(one.dtype or UNKNOWN_DTYPE, other.dtype or UNKNOWN_DTYPE)
            if one.placement is None or other.placement is None:
                return TransferRequest(None if one.placement is other.placement else UNKNOWN_PLACEMENT, dtype)
            return TransferRequest(join_under(test, one.placement, other.placement), dtype)
    return TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)


def _like(frame: Frame, other: Argument, step: Step) -> TransferRequest:
    if not isinstance(other.value, Tensor):
        return TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
    settled = frame.resolve(other.value)
    return TransferRequest(requested_placement(frame, settled, other.node, step), settled.dtype)


def _to(frame: Frame, arguments: Arguments, step: Step, non_blocking: bool | None) -> TransferRequest:
    device, dtype = arguments.get("device"), arguments.get("dtype")
    copies = _flag(arguments, "copy", 3) is not False
    reorders = "memory_format" in arguments.keywords
    for position, argument in enumerate(arguments.positional[:2]):
        if is_dtype_argument(argument.value):
            dtype = argument
        elif isinstance(argument.value, Tensor) and position == 0:
            request = _like(frame, argument, step)
            return replace(request, non_blocking=_flag(arguments, "non_blocking", 1), device_node=argument.node)
        elif position == 0 or not isinstance(argument.value, Const):
            device = argument
    other = arguments.get("other")
    if other is not None:
        return replace(_like(frame, other, step), non_blocking=non_blocking)
    if device is None and dtype is None:
        return TransferRequest(UNKNOWN_PLACEMENT if not arguments.complete else None, UNKNOWN_DTYPE, non_blocking)
    target: Placement | None = None
    if device is not None and not is_absent_or_none(device.value):
        target = requested_placement(frame, device.value, device.node, step)
        report_hard_coded_device(frame, device.value, device.node, f".to({_written(device.node)})")
    kind: Dtype | None = None
    if dtype is not None and not is_absent_or_none(dtype.value):
        kind = (
            replace(dtype.value.dtype, source=DtypeSource.EXPLICIT)
            if isinstance(dtype.value, DtypeValue)
            else UNKNOWN_DTYPE
        )
    return TransferRequest(target, kind, non_blocking, device.node if device is not None else None, copies, reorders)


def _written(node: cst.BaseExpression) -> str:
    return cst.Module([]).code_for_node(node)


# Tensors


def transfer_tensor(
    frame: Frame, tensor: Tensor, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Tensor:
    """Move or cast a tensor; tell the rules; return the tensor as it then is."""
    before = frame.resolve(tensor)
    request = read_transfer_request(frame, method, arguments, node, before.placement)
    after = _moved(frame, before, request)
    memory = storage_after_transfer(
        frame, before, request.placement, request.dtype, f"`.{method}()`", node, copies=request.copies
    )
    after = replace(after, memory=memory)
    if frame.discarded_expression is node:
        casts = request.dtype is not None
        frame.emit(
            DiscardedResult(frame.event_context(node), method, frame.place(receiver), before, reads_clock(frame), casts)
        )
    else:
        _tell(frame, node, receiver, method, before, after, request)
    _follow_copy(frame, node, method, before, after, request)
    return after


def transfer_unknown(
    frame: Frame, owner: Unknown, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Move something of which nothing is known: what comes out is where it was sent, wherever it has been."""
    request = read_transfer_request(frame, method, arguments, node)
    if request.placement is None:
        return owner
    _tell(frame, node, receiver, method, Tensor(), Tensor(request.placement), request, OpaqueTransfer)
    return OpaqueData(request.placement, moved=_step_of(request.placement))


def _moved(frame: Frame, before: Tensor, request: TransferRequest) -> Tensor:
    stays = request.placement is None or _same_device(before.placement, request.placement, frame)
    placement = before.placement if stays or request.placement is None else request.placement
    dtype = before.dtype if request.dtype is None else request.dtype
    if request.dtype is not None and request.dtype.name == before.dtype.name:
        dtype = before.dtype
    if stays and dtype == before.dtype:
        return before
    step = _step_of(placement)
    pending = before.pending
    if not stays and step is not None:
        pending = pending_copy(frame, before.placement, placement, step, non_blocking=request.non_blocking)
    kept = before.fresh if stays else None
    return replace(
        before,
        placement=placement,
        dtype=dtype,
        cell=None,
        leaf=False if before.leaf and before.grad else None,
        pinned=before.pinned if stays else None,
        pending=pending,
        fresh=kept,
        moved=None if stays else step,
        was_parameter=before.cell is not None
        and before.leaf is True
        and not is_registered_parameter(frame, before.cell),
    )


def _step_of(placement: Placement) -> Step | None:
    return next((leaf.provenance for _, leaf in placement_cases(placement) if leaf.provenance is not None), None)


def is_only_use(frame: Frame, read: cst.BaseExpression, use: cst.CSTNode) -> bool:
    """Whether nothing but `use` reads the value: a temporary, or a name that is read only there before it is bound
    again. What the caller has given is the caller's too."""
    if isinstance(read, cst.Name):
        return frame.analysis.use_def.only_reader(frame, use, read.value) and not _is_argument(frame, read.value)
    while isinstance(read, cst.Attribute):
        read = read.value
    return not isinstance(read, cst.Name)


def _is_argument(frame: Frame, name: str) -> bool:
    """Whether a name holds what the function was called with."""
    function = frame.function
    if function is None or all(one.name != name for one in function.parameters):
        return False
    return name not in function.rebound


def reads_clock(frame: Frame) -> bool:
    """Whether the code around reads a clock."""
    return (frame.module if frame.function is None else frame.function).evidence.clock


def _same_device(before: Placement, after: Placement, frame: Frame) -> bool:
    """Whether the transfer surely changes nothing."""
    pairs = [
        relate_devices(one.device, other.device) is DeviceRelation.SAME
        for needed, one in placement_cases(before, frame.state.path_condition)
        for _, other in placement_cases(after, frame.state.path_condition | needed)
    ]
    return bool(pairs) and all(pairs)


def _tell(
    frame: Frame,
    node: cst.CSTNode,
    receiver: cst.BaseExpression,
    method: str,
    before: Tensor,
    after: Tensor,
    request: TransferRequest,
    event: type[Transfer] = Transfer,
) -> None:
    loop_frame = frame.loops[-1] if frame.loops else None
    invariant = (
        loop_frame is not None
        and not varies_in_loop(receiver, loop_frame.assigned)
        and _target_invariant(request, loop_frame.assigned)
    )
    frame.emit(
        event(
            frame.event_context(node),
            method,
            frame.place(receiver),
            False,
            before.placement,
            after.placement if request.placement is None else request.placement,
            before.dtype,
            after.dtype,
            before.fresh,
            before.pinned,
            request.non_blocking,
            request.copies,
            invariant,
            moves=request.placement is not None,
            casts=request.dtype is not None or request.reorders,
            grad=before.grad,
            parameter=before.cell is not None,
            untouched=before.moved,
            only_use=is_only_use(frame, receiver, node),
            single_use=frame.analysis.use_def.used_once(frame, node),
        )
    )


def _follow_copy(
    frame: Frame, node: cst.CSTNode, method: str, before: Tensor, after: Tensor, request: TransferRequest
) -> None:
    """The host waits for a copy from or to an accelerator, unless it was told not to; for one from anywhere, maybe."""
    if request.placement is None or request.non_blocking is not False:
        return
    origins = [leaf.device for _, leaf in placement_cases(before.placement, frame.state.path_condition)]
    targets = [leaf.device for _, leaf in placement_cases(after.placement, frame.state.path_condition)]
    if any(map(is_accelerator, (*origins, *targets))):
        frame.synchronize(frame.step(StepKind.PASSED, f".{method}() waits for the copy", node))
    elif all(map(is_host, targets)) and not all(map(is_host, origins)):
        frame.synchronize()


def _target_invariant(request: TransferRequest, assigned: frozenset[str]) -> bool:
    return request.device_node is None or not varies_in_loop(request.device_node, assigned)


def transfer_of_leaf(tensor: Tensor) -> Step | None:
    """The transfer that made a non-leaf of a tensor that was created to be optimised; None for any other tensor."""
    if tensor.leaf is not False or not tensor.grad or tensor.cell is not None:
        return None
    return next(
        (
            step
            for _, leaf in placement_cases(tensor.placement)
            if (step := newest_step(leaf.provenance, StepKind.MOVED)) is not None
        ),
        None,
    )


# Modules


def transfer_module(
    frame: Frame, owner: Ref, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Move or cast a module in place: what is registered goes, what is not stays."""
    request = read_transfer_request(frame, method, arguments, node)
    first = _widest(frame, owner)

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        if request.placement is not None and not _same_device(placement, request.placement, frame):
            placement = request.placement
        if request.dtype is not None and (dtype.name is None or is_floating(dtype.name)):
            dtype = request.dtype
        return placement, dtype

    move_registered_tensors(frame, owner, change)
    if first is not None:
        after = _widest(frame, owner) or first
        loop_frame = frame.loops[-1] if frame.loops else None
        invariant = (
            loop_frame is not None
            and not varies_in_loop(receiver, loop_frame.assigned)
            and _target_invariant(request, loop_frame.assigned)
        )
        frame.emit(
            Transfer(
                frame.event_context(node), method, frame.place(receiver), True, first.placement,
                after.placement if request.placement is None else request.placement,
                first.dtype, after.dtype, invariant=invariant, in_place=True, moves=request.placement is not None,
                parameter=first.leaf is True,
            )
        )  # fmt: skip
    return owner


def _widest(frame: Frame, owner: Ref) -> Tensor | None:
    """The tensor that stands for a module's: one that holds float64, else the first parameter."""
    found = [
        frame.resolve(tensor)
        for buffers in (False, True)
        for _, tensor in module_tensors(frame, owner, buffers=buffers)
    ]
    return next((one for one in found if one.dtype.name == "float64"), found[0] if found else None)


def report_numpy_read(
    frame: Frame,
    tensor: Tensor,
    reader: str,
    node: cst.CSTNode,
    operand: cst.BaseExpression,
    *,
    force: bool = False,
    inside: bool = False,
    array: cst.BaseExpression | None = None,
) -> None:
    """Tell that NumPy (or anything through `__array__`) reads a tensor, perhaps beside an array."""
    tensor = frame.resolve(tensor)
    frame.emit(
        HostRead(
            frame.event_context(node),
            reader,
            tensor,
            frame.place(operand),
            needs_host=not force,
            needs_no_grad=not force,
            unfinished=unfinished_copy(frame, tensor),
            grad_enabled=frame.state.torch_state.grad,
            inside=inside,
            array=frame.place(array) if array is not None else None,
        )
    )
