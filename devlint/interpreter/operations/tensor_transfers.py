"""Transfers and casts of tensors and modules: `.to()`, `.cuda()`, `.cpu()`, `.half()`, `.type()` and others."""

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
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, equals_surely, is_floating
from devlint.domain.join import join_dtypes
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    map_cases,
    newest_step,
    placement_cases,
)
from devlint.domain.placement_lattice import join_under
from devlint.domain.torch_names import ACCELERATOR_METHODS, CAST_METHODS
from devlint.domain.value import (
    ConditionalValue,
    Const,
    DeviceValue,
    DtypeValue,
    LibraryName,
    OpaqueData,
    Ref,
    Tensor,
    TypeName,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.objects.module_state import module_tensors, move_registered_tensors
from devlint.interpreter.objects.plain_attributes import is_registered_parameter
from devlint.interpreter.operations.aliasing import storage_after_transfer
from devlint.interpreter.operations.consumers import is_cast_at_once
from devlint.interpreter.operations.device_arguments import (
    is_absent_or_none,
    is_called_device,
    report_hard_coded_device,
    requested_placement,
    resolve_device_index,
)
from devlint.interpreter.operations.dtype_arguments import is_called_dtype, is_dtype_argument, requested_dtype
from devlint.interpreter.operations.synchronization import pending_copy
from devlint.interpreter.operations.tensor_types import legacy_type
from devlint.interpreter.operations.tensor_uses import is_used_as_tensor
from devlint.interpreter.program.liveness import varies_in_loop
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import (
    DiscardedResult,
    InvalidDeviceUsed,
    OpaqueTransfer,
    RepeatedTransfer,
    Transfer,
)
from devlint.interpreter.state.frame import Frame


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """The placement and dtype that a transfer call such as `x.to(...)` asks for.

    None as placement or dtype leaves that property as it is. `non_blocking` is None when it is not known. `device_node`
    is the expression for the device. `copies` is true for a call that may copy even if there is nothing to do
    (`copy=True`, or an unknown value). `reorders` is true if a `memory_format` is given.
    """

    placement: Placement | None
    dtype: Dtype | None
    non_blocking: bool | None = False
    device_node: cst.BaseExpression | None = None
    copies: bool = False
    reorders: bool = False


def read_transfer_request(
    frame: Frame, method: str, arguments: Arguments, node: cst.CSTNode, moved: Placement = UNKNOWN_PLACEMENT
) -> TransferRequest:
    """Return the placement and dtype that the arguments of a transfer method such as `.to` ask for.

    `moved` is the placement of the tensor or module before the transfer.
    """
    source = next((leaf.placing_step for _, leaf in placement_cases(moved) if leaf.placing_step is not None), None)
    step = replace(frame.step(StepKind.MOVED, f"moved by .{method}()", node), source=source)
    non_blocking = _constant_flag(arguments, "non_blocking", {"to": 2, "cuda": 1, "xpu": 1}.get(method))
    if method in CAST_METHODS:
        return TransferRequest(None, Dtype(CAST_METHODS[method], DtypeSource.EXPLICIT, step))
    if method == "cpu":
        return TransferRequest(PlacementCase(CPU, Basis.EXPLICIT, step), None)
    if method in ACCELERATOR_METHODS:
        return _accelerator_request(frame, method, arguments, step, non_blocking)
    if method == "type":
        return _type_request(frame, arguments.value("dtype", 0) or arguments.value("dst_type"), step)
    if method == "type_as":
        other = arguments.get("other", 0)
        return (
            _request_like(frame, other, step)
            if other is not None
            else TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
        )
    return _to_request(frame, arguments, step, non_blocking)


def _constant_flag(arguments: Arguments, name: str, position: int | None) -> bool | None:
    """Return the constant value of a boolean argument, False when it is absent; None when the value is not known."""
    value = arguments.constant(name, position, False)
    return value if isinstance(value, bool) else None


def _accelerator_request(
    frame: Frame, method: str, arguments: Arguments, step: Step, non_blocking: bool | None
) -> TransferRequest:
    """Return the device that `.cuda()` or another accelerator's method asks for; report a host device as argument."""
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
        requested_placement(frame, device.value, device.node, step), lambda leaf: _as_accelerator(leaf, method)
    )
    return TransferRequest(there, None, non_blocking, device.node)


def _as_accelerator(leaf: PlacementCase, type_: str) -> PlacementCase:
    """Return one case of a placement with a symbolic device replaced by an accelerator of a type and unknown index.

    An accelerator of unnamed type gets the type.
    """
    match leaf.device:
        case DeviceSymbol():
            return replace(leaf, device=KnownDevice(type_, ANY_INDEX), basis=Basis.EXPLICIT)
        case KnownDevice(is_named=False, index=index):
            return replace(leaf, device=KnownDevice(type_, index))
    return leaf


def _type_request(frame: Frame, value: Value | None, step: Step) -> TransferRequest:
    """Return the device and dtype that `.type(value)` asks for; a type such as `torch.cuda.FloatTensor` names both."""
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
            one, other = _type_request(frame, yes, step), _type_request(frame, no, step)
            dtype = join_dtypes(one.dtype or UNKNOWN_DTYPE, other.dtype or UNKNOWN_DTYPE)
            if one.placement is None or other.placement is None:
                return TransferRequest(None if one.placement is other.placement else UNKNOWN_PLACEMENT, dtype)
            return TransferRequest(join_under(test, one.placement, other.placement), dtype)
    return TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)


def _request_like(frame: Frame, other: Argument, step: Step) -> TransferRequest:
    """Return the device and dtype of another tensor as the ones that a transfer such as `x.type_as(other)` asks for.

    Unknown when the argument is no tensor, and no named value that is used as one.
    """
    tensor = as_tensor(other.value) if isinstance(other.value, (Tensor, Unknown)) else None
    if tensor is None:
        return TransferRequest(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
    settled = frame.resolve(tensor)
    return TransferRequest(requested_placement(frame, settled, other.node, step), settled.dtype)


def _to_request(frame: Frame, arguments: Arguments, step: Step, non_blocking: bool | None) -> TransferRequest:
    """Return the device and dtype that `.to(...)` asks for, given a device, a dtype, both, or another tensor."""
    device, dtype = arguments.get("device"), arguments.get("dtype")
    copies = _constant_flag(arguments, "copy", 3) is not False
    reorders = "memory_format" in arguments.keywords
    for position, argument in enumerate(arguments.positional[:2]):
        if is_dtype_argument(argument.value) or (
            isinstance(argument.value, Unknown)
            and isinstance(argument.node, cst.Attribute)
            and is_called_dtype(argument.node)
        ):
            dtype = argument
        elif isinstance(argument.value, Tensor) and position == 0:
            request = _request_like(frame, argument, step)
            return replace(
                request, non_blocking=_constant_flag(arguments, "non_blocking", 1), device_node=argument.node
            )
        elif position == 0 or not isinstance(argument.value, Const):
            device = argument
    other = arguments.get("other")
    if other is not None:
        return replace(_request_like(frame, other, step), non_blocking=non_blocking)
    if device is None and dtype is None:
        return TransferRequest(UNKNOWN_PLACEMENT if not arguments.complete else None, UNKNOWN_DTYPE, non_blocking)
    target: Placement | None = None
    if device is not None and not is_absent_or_none(device.value):
        target = requested_placement(frame, device.value, device.node, step)
        report_hard_coded_device(frame, device.value, device.node, f".to({_source_code(device.node)})")
    kind: Dtype | None = None
    if dtype is not None and not is_absent_or_none(dtype.value):
        kind = requested_dtype(dtype.value)
    elif device is not None and isinstance(device.value, Unknown) and not is_called_device(device.node):
        # It may be a tensor, whose dtype the result takes over, or a dtype.
        kind = UNKNOWN_DTYPE
    return TransferRequest(target, kind, non_blocking, device.node if device is not None else None, copies, reorders)


def _source_code(node: cst.BaseExpression) -> str:
    """Return the source code of an expression."""
    return cst.Module([]).code_for_node(node)


# Tensors


def transfer_tensor(
    frame: Frame, tensor: Tensor, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Tensor:
    """Move or cast a tensor, emit the events of the transfer, and return the resulting tensor."""
    before = frame.resolve(tensor)
    request = read_transfer_request(frame, method, arguments, node, before.placement)
    after = _transferred(frame, before, request)
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
        _emit_transfer(frame, node, receiver, method, before, after, request)
    _synchronize_for_copy(frame, node, method, before, after, request)
    return after


def transfer_unknown(
    frame: Frame, owner: Unknown, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Move a value of unknown class and return opaque data on the requested device; a cast returns the value itself."""
    request = read_transfer_request(frame, method, arguments, node)
    if request.placement is None:
        return replace(owner, cast=request.dtype or owner.cast)
    _emit_transfer(frame, node, receiver, method, Tensor(), Tensor(request.placement), request, OpaqueTransfer)
    report_repeated_transfer(frame, method, request, node, receiver)
    return OpaqueData(request.placement, moved=_provenance_step(request.placement))


def report_repeated_transfer(
    frame: Frame, method: str, request: TransferRequest, node: cst.CSTNode, receiver: cst.BaseExpression
) -> None:
    """Emit the event of a loop's transfer of a tensor of unknown origin, if it is the same in every iteration."""
    if (
        request.placement is not None
        and frame.loops
        and _is_invariant_in_loop(frame, receiver, request)
        and is_used_as_tensor(frame, node)
    ):
        frame.emit(RepeatedTransfer(frame.event_context(node), method, frame.place(receiver), request.placement))


def _transferred(frame: Frame, before: Tensor, request: TransferRequest) -> Tensor:
    """Return the tensor that results from a transfer: the same tensor when device and dtype stay the same."""
    stays = request.placement is None or _keeps_device(before.placement, request.placement, frame)
    placement = before.placement if stays or request.placement is None else request.placement
    dtype = before.dtype if request.dtype is None else request.dtype
    if request.dtype is not None and equals_surely(request.dtype, before.dtype):
        dtype = before.dtype
    if stays and dtype == before.dtype:
        return before
    step = _provenance_step(placement)
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
        moved_parameter=before.cell is not None
        and before.leaf is True
        and not is_registered_parameter(frame, before.cell),
    )


def _provenance_step(placement: Placement) -> Step | None:
    """Return the last provenance step of a placement: that of its first case with a provenance; None without one."""
    return next((leaf.provenance for _, leaf in placement_cases(placement) if leaf.provenance is not None), None)


def is_only_use(frame: Frame, read: cst.BaseExpression, use: cst.CSTNode) -> bool:
    """Return whether only `use` reads the value of an expression: a temporary, or a name read nowhere else.

    Reads of a name count until it is bound again. False for an argument of the running function, because the caller may
    read it too.
    """
    if isinstance(read, cst.Name):
        return frame.analysis.use_def.only_reader(frame, use, read.value) and not _is_unchanged_parameter(
            frame, read.value
        )
    while isinstance(read, cst.Attribute):
        read = read.value
    return not isinstance(read, cst.Name)


def _is_unchanged_parameter(frame: Frame, name: str) -> bool:
    """Return whether a name is a parameter of the running function that the function does not bind again."""
    function = frame.function
    if function is None or all(one.name != name for one in function.parameters):
        return False
    return name not in function.bound_names


def reads_clock(frame: Frame) -> bool:
    """Return whether the running function, or the module outside of functions, reads a clock."""
    return (frame.module if frame.function is None else frame.function).evidence.reads_clock


def _keeps_device(before: Placement, after: Placement, frame: Frame) -> bool:
    """Return whether a transfer from one placement to another is sure to leave the tensor on its device."""
    pairs = [
        relate_devices(one.device, other.device) is DeviceRelation.SAME
        for needed, one in placement_cases(before, frame.state.path_condition)
        for _, other in placement_cases(after, frame.state.path_condition | needed)
    ]
    return bool(pairs) and all(pairs)


def _emit_transfer(
    frame: Frame,
    node: cst.CSTNode,
    receiver: cst.BaseExpression,
    method: str,
    before: Tensor,
    after: Tensor,
    request: TransferRequest,
    event: type[Transfer] = Transfer,
) -> None:
    """Emit the event of a transfer, with the facts on which rules about needless or repeated transfers decide."""
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
            _is_invariant_in_loop(frame, receiver, request),
            moves=request.placement is not None,
            casts=request.dtype is not None or request.reorders,
            grad=before.grad,
            parameter=before.cell is not None,
            previous_transfer=before.moved,
            only_use=is_only_use(frame, receiver, node),
            single_use=frame.analysis.use_def.used_once(frame, node),
            cast_at_once=is_cast_at_once(frame, node),
        )
    )


def _synchronize_for_copy(
    frame: Frame, node: cst.CSTNode, method: str, before: Tensor, after: Tensor, request: TransferRequest
) -> None:
    """Record that the host waits for a blocking copy from or to an accelerator.

    For a copy from an unknown device to the host, the wait is only possible and has no step of its own.
    """
    if request.placement is None or request.non_blocking is not False:
        return
    origins = [leaf.device for _, leaf in placement_cases(before.placement, frame.state.path_condition)]
    targets = [leaf.device for _, leaf in placement_cases(after.placement, frame.state.path_condition)]
    if any(map(is_accelerator, (*origins, *targets))):
        frame.synchronize(frame.step(StepKind.PASSED, f".{method}() waits for the copy", node))
    elif all(map(is_host, targets)) and not all(map(is_host, origins)):
        frame.synchronize()


def _is_invariant_in_loop(frame: Frame, receiver: cst.BaseExpression, request: TransferRequest) -> bool:
    """Return whether a transfer in a loop has the same receiver and target in every iteration; False outside loops."""
    if not frame.loops:
        return False
    changed_names = frame.loops[-1].bound_names
    return not varies_in_loop(receiver, changed_names) and _is_target_invariant(frame, request, changed_names)


def _is_target_invariant(frame: Frame, request: TransferRequest, changed: frozenset[str]) -> bool:
    """Return whether the device argument of a transfer in a loop is the same in each iteration.

    `changed` are the names that the loop binds, and those of objects that it may change: no code changes a device.
    """
    node = request.device_node
    if isinstance(node, cst.Name) and node.value in changed and isinstance(frame.evaluate(node), DeviceValue):
        changed = frame.analysis.names_bound(frame.loops[-1].node)
    return node is None or not varies_in_loop(node, changed)


def transfer_that_unleafed(tensor: Tensor) -> Step | None:
    """Return the transfer that made a tensor created for optimisation a non-leaf of autograd; None if none did."""
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
    """Move or cast the registered tensors of a module in place, emit the transfer, and return the module."""
    request = read_transfer_request(frame, method, arguments, node)
    first = _representative_tensor(frame, owner)

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        if request.placement is not None and not _keeps_device(placement, request.placement, frame):
            placement = request.placement
        if request.dtype is not None and (dtype.name is None or is_floating(dtype.name)):
            dtype = request.dtype
        return placement, dtype

    move_registered_tensors(frame, owner, change)
    if first is not None:
        after = _representative_tensor(frame, owner) or first
        frame.emit(
            Transfer(
                frame.event_context(node), method, frame.place(receiver), True, first.placement,
                after.placement if request.placement is None else request.placement,
                first.dtype, after.dtype, invariant=_is_invariant_in_loop(frame, receiver, request), in_place=True,
                moves=request.placement is not None,
                parameter=first.leaf is True,
            )
        )  # fmt: skip
    return owner


def _representative_tensor(frame: Frame, owner: Ref) -> Tensor | None:
    """Return the tensor that stands for a module's tensors: one of dtype float64, else the first; None without any.

    Parameters come before buffers.
    """
    found = [
        frame.resolve(tensor)
        for buffers in (False, True)
        for _, tensor in module_tensors(frame, owner, buffers=buffers)
    ]
    return next((one for one in found if one.dtype.name == "float64"), found[0] if found else None)
