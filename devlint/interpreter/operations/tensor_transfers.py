"""Transfers and casts of tensors and of values of unknown class: `.to()`, `.cuda()`, `.half()` and others."""

from __future__ import annotations

from typing import TypeGuard

import libcst as cst

from devlint.domain.device import DeviceRelation, DeviceSymbol, KnownDevice, is_accelerator, is_host, relate_devices
from devlint.domain.dtype import Dtype, equals_surely, is_countable
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    certain_device,
    newest_step,
    placement_cases,
)
from devlint.domain.placement_lattice import without_failed_cases
from devlint.domain.record import replace
from devlint.domain.value import HostCopy, OpaqueData, Tensor, Unknown, Value
from devlint.interpreter.objects.plain_attributes import is_registered_parameter
from devlint.interpreter.operations.aliasing import storage_after_transfer
from devlint.interpreter.operations.consumers import is_cast_at_once, is_never_computed_with
from devlint.interpreter.operations.copies_in_flight import record_copy_in_flight
from devlint.interpreter.operations.repeated_transfers import repetition_of, report_repeated_transfer
from devlint.interpreter.operations.synchronization import pending_copy
from devlint.interpreter.operations.transfer_requests import TransferRequest, read_transfer_request
from devlint.interpreter.program.definitions import names_bound_by
from devlint.interpreter.program.derived_names import is_computed_from
from devlint.interpreter.program.joined_elements import joined_names
from devlint.interpreter.program.liveness import is_read_after, reads_of_name
from devlint.interpreter.state.arguments import Arguments
from devlint.interpreter.state.events import DiscardedResult, OpaqueTransfer, Transfer
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import dotted_name


def transfer_tensor(
    frame: Frame,
    tensor: Tensor,
    method: str,
    arguments: Arguments,
    node: cst.CSTNode,
    receiver: cst.BaseExpression,
    *,
    supposed: bool = False,
) -> Tensor:
    """Move or cast a tensor, emit the events of the transfer, and return the resulting tensor.

    `supposed` is true of a value of unknown class that only its uses show to be a tensor.
    """
    before = frame.resolve(tensor)
    request = read_transfer_request(frame, method, arguments, node, before.placement)
    after = _transferred(frame, before, request)
    memory = storage_after_transfer(
        frame, before, request.placement, request.dtype, f"`.{method}()`", node, copies=request.copies
    )
    cast = after.host_copy
    if request.placement is None and after.dtype != before.dtype:
        cast = HostCopy(frame.step(StepKind.PASSED, f"cast to {after.dtype} by `.{method}()`", node), before.dtype)
    after = replace(after, memory=memory, host_copy=cast)
    if request.placement is not None and after.placement is UNKNOWN_PLACEMENT:
        # Where the tensor is, or whether it is another one than before, the target does not tell.
        after = replace(after, moved=frame.step(StepKind.MOVED, f"moved by .{method}()", node), moved_parameter=False)
    if frame.discarded_expression is node:
        idle = _changes_nothing(frame, before, request)
        if idle and not _is_where_caller_chooses(frame, before):
            return after
        if not idle and (
            _asks_again(frame, before.moved, node)
            or _is_there_already(frame, receiver, node)
            or _is_joined_there(frame, receiver, request, node)
            or _is_never_read_again(frame, method, receiver, node)
        ):
            return after
        casts = request.dtype is not None
        frame.emit(
            DiscardedResult(
                frame.event_context(node),
                method,
                frame.place(receiver),
                before,
                _reads_clock(frame),
                casts,
                idle,
                supposed or _is_result_of_unknown(frame, receiver),
            )
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


def _is_result_of_unknown(frame: Frame, receiver: cst.BaseExpression) -> bool:
    """Return whether a receiver is what a method of an unknown object returns (`batch.detach()`).

    That the method is one of tensors shows the object to be a tensor; other classes have methods of the same names.
    """
    while isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute):
        receiver = receiver.func.value
        if dotted_name(receiver) is not None:
            return isinstance(frame.evaluate(receiver), Unknown)
    return False


def _transferred(frame: Frame, before: Tensor, request: TransferRequest) -> Tensor:
    """Return the tensor that results from a transfer: the same tensor when device and dtype stay the same."""
    stays = request.placement is None or keeps_device(before.placement, request.placement, frame)
    if stays and _is_followed(request.placement, before.placement):
        # Asked to lie where another tensor lies, it is there because of what put that one there.
        before = replace(before, placement=request.placement)
    placement = before.placement
    if not stays and request.placement is not None:
        placement = without_failed_cases(request.placement, [before.placement])
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
    records = frame.state.torch_state.grad
    is_copied_leaf = before.leaf and before.grad and _may_be_copied(frame, before, dtype)
    return replace(
        before,
        placement=placement,
        dtype=dtype,
        grad=False if is_countable(dtype) or records is False else before.grad,
        cell=None,
        # What autograd does not record is a leaf of its own.
        leaf=False if is_copied_leaf and records else None,
        pinned=before.pinned if stays else None,
        pending=pending,
        fresh=kept,
        moved=None if stays else step,
        host_copy=None,
        moved_parameter=before.cell is not None
        and before.leaf is True
        and records is not False
        and _changes_device(before.placement, placement, frame)
        and not is_registered_parameter(frame, before.cell),
    )


def _changes_nothing(frame: Frame, before: Tensor, request: TransferRequest) -> bool:
    """Return whether a transfer or cast is sure to return the tensor itself: nothing is lost where nobody takes it."""
    keeps_dtype = request.dtype is None or equals_surely(request.dtype, before.dtype)
    stays = request.placement is None or keeps_device(before.placement, request.placement, frame)
    asks = request.placement is not None or request.dtype is not None
    return asks and keeps_dtype and stays and not request.reorders and request.copies is False


def _is_where_caller_chooses(frame: Frame, tensor: Tensor) -> bool:
    """Return whether a tensor is on a device that the unknown caller chooses: what is known of it holds for any."""
    device = certain_device(frame.resolve(tensor).placement, frame.state.path_condition)
    return frame.analysis.symbolic and isinstance(device, DeviceSymbol)


def _asks_again(frame: Frame, moved: Step | None, node: cst.CSTNode) -> bool:
    """Return whether a call asks for what the transfer `moved`, which returned the tensor, has already done.

    Both are written alike in one run of the code, with names that it does not bind: `x = x.to(device)`, `x.to(device)`.
    """
    earlier = moved.place.node if moved is not None and moved.scope is frame.scope else None
    match earlier, node:
        case cst.Call(func=cst.Attribute(attr=first), args=[one]), cst.Call(func=cst.Attribute(attr=then), args=[two]):
            name = dotted_name(one.value)
            if name is None or frame.function is None or name.partition(".")[0] in frame.function.bound_names:
                return False
            return first.value == then.value and dotted_name(two.value) == name
    return False


def _is_there_already(frame: Frame, receiver: cst.BaseExpression, node: cst.CSTNode) -> bool:
    """Return whether a call asks for the device of what the receiver has been computed from: `(x + 1).to(x.device)`."""
    match receiver, node:
        case cst.Name(value=name), cst.Call(
            args=[cst.Arg(value=cst.Attribute(cst.Name(value=source), cst.Name("device")))]
        ):
            return frame.function is not None and is_computed_from(frame.function.node, name, source)
    return False


def _is_joined_there(frame: Frame, receiver: cst.BaseExpression, request: TransferRequest, node: cst.CSTNode) -> bool:
    """Return whether a call asks for the device of one of the tensors that were put together in the receiver.

    Where that device is unknown, the tensor has been moved by a call that is written alike.
    """
    if request.placement is None or request.dtype is not None or frame.function is None:
        return False
    names = joined_names(frame.function, receiver.value) if isinstance(receiver, cst.Name) else ()
    parts = [frame.resolve(one) for one in map(frame.lookup, names) if isinstance(one, Tensor)]
    return any(
        keeps_device(one.placement, request.placement, frame) or _asks_again(frame, one.moved, node) for one in parts
    )


def _is_never_read_again(frame: Frame, method: str, receiver: cst.BaseExpression, node: cst.CSTNode) -> bool:
    """Return whether a discarded transfer is the last use of a local variable: then it is lost on nobody.

    A parameter is the caller's as well, and what a loop goes over may be somebody's too. But a function that has
    computed with a parameter, and then calls `.cpu()`, only wants the accelerator's memory back.
    """
    if not isinstance(receiver, cst.Name):
        return False
    name, function = receiver.value, frame.function
    if any(isinstance(one.node, cst.For) and name in names_bound_by(one.node) for one in frame.loops):
        return False
    if function is None:
        others = (one for one in frame.module.index.statements if one is not frame.unit)
        if any(name in one.mentions for one in others):
            return False
    elif any(one.name == name for one in function.parameters):
        if method != "cpu" or all(one is receiver for one in reads_of_name(function.node.body, name)):
            return False
    elif name not in function.bound_names:
        return False
    body = frame.unit.tree if function is None else function.node
    return not is_read_after(body, node, name, frame.loops[0].node if frame.loops else None)


def _is_followed(target: Placement | None, before: Placement) -> TypeGuard[PlacementCase]:
    """Return whether a tensor on the default device is asked to lie where the program names, or where another one lies.

    Asked for the host by name, it is no longer there by default. Another one that nobody put there is there by default,
    or as its caller must have passed it for the path to be taken.
    """
    return (
        isinstance(before, PlacementCase)
        and isinstance(target, PlacementCase)
        and before.basis is Basis.DEFAULT
        and (target.basis in (Basis.DEFAULT, Basis.CALLER) or is_host(target.device))
        and target.provenance is not None
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


def _reads_clock(frame: Frame) -> bool:
    """Return whether the running function, or the module outside of functions, reads a clock."""
    return (frame.module if frame.function is None else frame.function).evidence.reads_clock


def keeps_device(before: Placement, after: Placement, frame: Frame) -> bool:
    """Return whether a transfer from one placement to another is sure to leave the tensor on its device."""
    pairs = [
        relate_devices(one.device, other.device) is DeviceRelation.SAME
        for needed, one in placement_cases(before, frame.state.path_condition)
        for _, other in placement_cases(after, frame.state.path_condition | needed)
    ]
    return bool(pairs) and all(pairs)


def _changes_device(before: Placement, after: Placement, frame: Frame) -> bool:
    """Return whether a transfer from one placement to another is sure to change the device in some case.

    Nobody knows whether it does from a device that the caller has chosen to another one.
    """
    return any(
        relate_devices(one.device, other.device) is DeviceRelation.DIFFERENT
        or (is_host(one.device) and isinstance(other.device, DeviceSymbol))
        for needed, one in placement_cases(before, frame.state.path_condition)
        for _, other in placement_cases(after, frame.state.path_condition | needed)
    )


def _may_be_copied(frame: Frame, before: Tensor, dtype: Dtype) -> bool:
    """Return whether a transfer may return another tensor: it casts, or the device that the tensor comes from is known.

    Programs ask once more for the device on which they have made a tensor elsewhere, and get the tensor itself.
    """
    cases = placement_cases(before.placement, frame.state.path_condition)
    return dtype != before.dtype or any(isinstance(one.device, KnownDevice) for _, one in cases)


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
            repetition_of(frame, receiver, request, node),
            moves=request.placement is not None,
            casts=request.dtype is not None or request.reorders,
            grad=before.grad,
            parameter=before.cell is not None,
            previous_transfer=before.moved,
            only_use=is_only_use(frame, receiver, node),
            single_use=frame.analysis.use_def.used_once(frame, node),
            unread=before.dtype.name == "float64" and frame.analysis.use_def.gets_unread_name(frame, node),
            cast_at_once=is_cast_at_once(frame, node)
            or (before.dtype.name == "float64" and is_never_computed_with(frame, node)),
            rank=before.rank,
            host_copy=_copied_for_transfer(frame, node, receiver, before),
        )
    )


def _copied_for_transfer(
    frame: Frame, node: cst.CSTNode, receiver: cst.BaseExpression, tensor: Tensor
) -> HostCopy | None:
    """Return the call that pinned or cast a tensor which the same run of the code then only transfers; else None.

    A copy that is made once and transferred in each iteration of a loop is not made for one transfer.
    """
    copy = tensor.host_copy
    if copy is None or copy.step.scope is not frame.scope or copy.step.loop != frame.loop:
        return None
    if copy.step.place.node is receiver:
        return copy
    return copy if isinstance(receiver, cst.Name) and is_only_use(frame, receiver, node) else None


def _synchronize_for_copy(
    frame: Frame, node: cst.CSTNode, method: str, before: Tensor, after: Tensor, request: TransferRequest
) -> None:
    """Record that the host waits for a blocking copy from or to an accelerator.

    For a copy from an unknown device to the host, the wait is only possible and has no step of its own.
    """
    if request.placement is not None and request.non_blocking:
        step = frame.step(StepKind.MOVED, f"moved by `.{method}()`, which does not wait", node)
        record_copy_in_flight(frame, before, request.placement, step)
    if request.placement is None or request.non_blocking is not False:
        return
    origins = [leaf.device for _, leaf in placement_cases(before.placement, frame.state.path_condition)]
    targets = [leaf.device for _, leaf in placement_cases(after.placement, frame.state.path_condition)]
    if any(map(is_accelerator, (*origins, *targets))):
        frame.synchronize(frame.step(StepKind.PASSED, f"`.{method}()` waits for the copy", node))
    elif all(map(is_host, targets)) and not all(map(is_host, origins)):
        frame.synchronize()


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
