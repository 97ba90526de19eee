"""Moving and casting: `.to` and its relatives, on tensors and on modules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import libcst as cst

from devlint.domain.device import ANY_INDEX, CPU, Known, Relation, Symbol, is_accelerator, is_host, relate
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, Source, is_floating
from devlint.domain.join import join_dtypes
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    How,
    Kind,
    Leaf,
    Placement,
    Step,
    choose,
    find,
    leaves,
    transform,
)
from devlint.domain.value import Batch, Const, DtypeValue, Either, Library, Ref, Tensor, TypeName, Unknown, Value
from devlint.interpreter.objects.module_state import relocate, tensors_of
from devlint.interpreter.objects.plain_attributes import is_held
from devlint.interpreter.operations.aliasing import memory_after
from devlint.interpreter.operations.device_arguments import current, is_none, note_hard_coded, placement_from
from devlint.interpreter.operations.dtype_arguments import names_dtype
from devlint.interpreter.operations.synchronization import pending_copy, unfinished
from devlint.interpreter.operations.tensor_types import legacy_type
from devlint.interpreter.program.liveness import varies_in
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import Discarded, HostRead, InvalidDeviceUse, OpaqueTransfer, Transfer
from devlint.interpreter.state.frame import Run

CASTS: Final = {
    "half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16", "long": "int64", "int": "int32",
    "short": "int16", "bool": "bool", "char": "int8", "byte": "uint8", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
MOVES: Final = ("to", "cuda", "cpu", "xpu", "npu", "hpu", "ipu", "type_as", "type")
METHODS: Final = (*MOVES, *CASTS)


@dataclass(frozen=True, slots=True)
class Request:
    """What a transfer asks for; None leaves that side as it is."""

    placement: Placement | None
    dtype: Dtype | None
    non_blocking: bool | None = False
    device_node: cst.BaseExpression | None = None
    copies: bool = False
    reorders: bool = False


def requested(
    run: Run, method: str, arguments: Arguments, node: cst.CSTNode, moved: Placement = UNKNOWN_PLACEMENT
) -> Request:
    """Read a transfer's arguments; `moved` is where the tensor has been."""
    source = next((leaf.cause for _, leaf in leaves(moved) if leaf.cause is not None), None)
    step = replace(run.step(Kind.MOVED, f"moved by .{method}()", node), source=source)
    non_blocking = _flag(arguments, "non_blocking", {"to": 2, "cuda": 1, "xpu": 1}.get(method))
    if method in CASTS:
        return Request(None, Dtype(CASTS[method], Source.EXPLICIT, step))
    if method == "cpu":
        return Request(Leaf(CPU, How.EXPLICIT, step), None)
    if method in ("cuda", "xpu", "npu", "hpu", "ipu"):
        return _to_accelerator(run, method, arguments, step, non_blocking)
    if method == "type":
        return _as_type(run, arguments.value("dtype", 0) or arguments.value("dst_type"), step)
    if method == "type_as":
        other = arguments.get("other", 0)
        return _like(run, other, step) if other is not None else Request(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
    return _to(run, arguments, step, non_blocking)


def _flag(arguments: Arguments, name: str, position: int | None) -> bool | None:
    value = arguments.constant(name, position, False)
    return value if isinstance(value, bool) else None


def _to_accelerator(run: Run, method: str, arguments: Arguments, step: Step, non_blocking: bool | None) -> Request:
    device = arguments.get("device", 0)
    note_hard_coded(run, Const(method), arguments.node, f".{method}()")
    if device is None or is_none(device.value):
        if not arguments.complete:
            return Request(UNKNOWN_PLACEMENT, None, non_blocking)
        return Request(Leaf(current(run, Known(method)), How.EXPLICIT, step), None, non_blocking)
    if isinstance(device.value, Const) and isinstance(device.value.value, str) and device.value.value.startswith("cpu"):
        reason = f".{method}() takes an accelerator, not {device.value.value!r}"
        run.emit(InvalidDeviceUse(run.context_at(device.node), device.value.value, reason))
        return Request(UNKNOWN_PLACEMENT, None, non_blocking)
    there = transform(placement_from(run, device.value, device.node, step), lambda leaf: _accelerated(leaf, method))
    return Request(there, None, non_blocking, device.node)


def _accelerated(leaf: Leaf, type_: str) -> Leaf:
    """A device that only has a name: whichever it is, it is an accelerator of this type."""
    return replace(leaf, device=Known(type_, ANY_INDEX), how=How.EXPLICIT) if isinstance(leaf.device, Symbol) else leaf


def _as_type(run: Run, value: Value | None, step: Step) -> Request:
    """What `.type(value)` asks for: a legacy type names a device too."""
    match value:
        case DtypeValue(dtype=dtype):
            return Request(None, replace(dtype, source=Source.EXPLICIT))
        case TypeName(placement=placement, dtype=dtype):
            placed = transform(placement, lambda leaf: replace(leaf, trace=step, how=How.EXPLICIT))
            return Request(placed, replace(dtype, source=Source.EXPLICIT))
        case Library(name=name) | Const(value=str(name)):
            found = legacy_type(run, name, step)
            return Request(*found) if found is not None else Request(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
        case Either(test=test, yes=yes, no=no):
            one, other = _as_type(run, yes, step), _as_type(run, no, step)
            dtype = join_dtypes(one.dtype or UNKNOWN_DTYPE, other.dtype or UNKNOWN_DTYPE)
            if one.placement is None or other.placement is None:
                return Request(None if one.placement is other.placement else UNKNOWN_PLACEMENT, dtype)
            return Request(choose(test, one.placement, other.placement), dtype)
    return Request(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)


def _like(run: Run, other: Argument, step: Step) -> Request:
    if not isinstance(other.value, Tensor):
        return Request(UNKNOWN_PLACEMENT, UNKNOWN_DTYPE)
    settled = run.settle(other.value)
    return Request(placement_from(run, settled, other.node, step), settled.dtype)


def _to(run: Run, arguments: Arguments, step: Step, non_blocking: bool | None) -> Request:
    device, dtype = arguments.get("device"), arguments.get("dtype")
    copies = _flag(arguments, "copy", 3) is not False
    reorders = "memory_format" in arguments.keywords
    for position, argument in enumerate(arguments.positional[:2]):
        if names_dtype(argument.value):
            dtype = argument
        elif isinstance(argument.value, Tensor) and position == 0:
            request = _like(run, argument, step)
            return replace(request, non_blocking=_flag(arguments, "non_blocking", 1), device_node=argument.node)
        elif position == 0 or not isinstance(argument.value, Const):
            device = argument
    other = arguments.get("other")
    if other is not None:
        return replace(_like(run, other, step), non_blocking=non_blocking)
    if device is None and dtype is None:
        return Request(UNKNOWN_PLACEMENT if not arguments.complete else None, UNKNOWN_DTYPE, non_blocking)
    target: Placement | None = None
    if device is not None and not is_none(device.value):
        target = placement_from(run, device.value, device.node, step)
        note_hard_coded(run, device.value, device.node, f".to({_written(device.node)})")
    kind: Dtype | None = None
    if dtype is not None and not is_none(dtype.value):
        kind = (
            replace(dtype.value.dtype, source=Source.EXPLICIT) if isinstance(dtype.value, DtypeValue) else UNKNOWN_DTYPE
        )
    return Request(target, kind, non_blocking, device.node if device is not None else None, copies, reorders)


def _written(node: cst.BaseExpression) -> str:
    return cst.Module([]).code_for_node(node)


# Tensors


def transfer_tensor(
    run: Run, tensor: Tensor, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Tensor:
    """Move or cast a tensor; tell the rules; return the tensor as it then is."""
    before = run.settle(tensor)
    request = requested(run, method, arguments, node, before.placement)
    after = _moved(run, before, request)
    memory = memory_after(run, before, request.placement, request.dtype, f"`.{method}()`", node, copies=request.copies)
    after = replace(after, memory=memory)
    if run.discarded is node:
        casts = request.dtype is not None
        run.emit(Discarded(run.context_at(node), method, run.place(receiver), before, reads_clock(run), casts))
    else:
        _tell(run, node, receiver, method, before, after, request)
    _follow_copy(run, node, method, before, after, request)
    return after


def transfer_opaque(
    run: Run, owner: Unknown, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Move something of which nothing is known: what comes out is where it was sent, wherever it has been."""
    request = requested(run, method, arguments, node)
    if request.placement is None:
        return owner
    _tell(run, node, receiver, method, Tensor(), Tensor(request.placement), request, OpaqueTransfer)
    return Batch(request.placement, moved=_step_of(request.placement))


def _moved(run: Run, before: Tensor, request: Request) -> Tensor:
    stays = request.placement is None or _same_device(before.placement, request.placement, run)
    placement = before.placement if stays or request.placement is None else request.placement
    dtype = before.dtype if request.dtype is None else request.dtype
    if request.dtype is not None and request.dtype.name == before.dtype.name:
        dtype = before.dtype
    if stays and dtype == before.dtype:
        return before
    step = _step_of(placement)
    pending = before.pending
    if not stays and step is not None:
        pending = pending_copy(run, before.placement, placement, step, non_blocking=request.non_blocking)
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
        was_parameter=before.cell is not None and before.leaf is True and not is_held(run, before.cell),
    )


def _step_of(placement: Placement) -> Step | None:
    return next((leaf.trace for _, leaf in leaves(placement) if leaf.trace is not None), None)


def is_only_use(run: Run, read: cst.BaseExpression, use: cst.CSTNode) -> bool:
    """Whether nothing but `use` reads the value: a temporary, or a name that is read only there before it is bound
    again. What the caller has given is the caller's too."""
    if isinstance(read, cst.Name):
        return run.engine.uses.only_reader(run, use, read.value) and not _is_argument(run, read.value)
    while isinstance(read, cst.Attribute):
        read = read.value
    return not isinstance(read, cst.Name)


def _is_argument(run: Run, name: str) -> bool:
    """Whether a name holds what the function was called with."""
    function = run.function
    if function is None or all(one.name != name for one in function.parameters):
        return False
    return name not in function.rebound


def reads_clock(run: Run) -> bool:
    """Whether the code around reads a clock."""
    return (run.module if run.function is None else run.function).evidence.clock


def _same_device(before: Placement, after: Placement, run: Run) -> bool:
    """Whether the transfer surely changes nothing."""
    pairs = [
        relate(one.device, other.device) is Relation.SAME
        for needed, one in leaves(before, run.state.facts)
        for _, other in leaves(after, run.state.facts | needed)
    ]
    return bool(pairs) and all(pairs)


def _tell(
    run: Run,
    node: cst.CSTNode,
    receiver: cst.BaseExpression,
    method: str,
    before: Tensor,
    after: Tensor,
    request: Request,
    event: type[Transfer] = Transfer,
) -> None:
    frame = run.loops[-1] if run.loops else None
    invariant = (
        frame is not None and not varies_in(receiver, frame.assigned) and _target_invariant(request, frame.assigned)
    )
    run.emit(
        event(
            run.context_at(node),
            method,
            run.place(receiver),
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
            only_use=is_only_use(run, receiver, node),
            single_use=run.engine.uses.used_once(run, node),
        )
    )


def _follow_copy(run: Run, node: cst.CSTNode, method: str, before: Tensor, after: Tensor, request: Request) -> None:
    """The host waits for a copy from or to an accelerator, unless it was told not to; for one from anywhere, maybe."""
    if request.placement is None or request.non_blocking is not False:
        return
    origins = [leaf.device for _, leaf in leaves(before.placement, run.state.facts)]
    targets = [leaf.device for _, leaf in leaves(after.placement, run.state.facts)]
    if any(map(is_accelerator, (*origins, *targets))):
        run.synchronize(run.step(Kind.PASSED, f".{method}() waits for the copy", node))
    elif all(map(is_host, targets)) and not all(map(is_host, origins)):
        run.synchronize()


def _target_invariant(request: Request, assigned: frozenset[str]) -> bool:
    return request.device_node is None or not varies_in(request.device_node, assigned)


def moved_leaf(tensor: Tensor) -> Step | None:
    """The transfer that made a non-leaf of a tensor that was created to be optimised; None for any other tensor."""
    if tensor.leaf is not False or not tensor.grad or tensor.cell is not None:
        return None
    return next(
        (step for _, leaf in leaves(tensor.placement) if (step := find(leaf.trace, Kind.MOVED)) is not None), None
    )


# Modules


def transfer_module(
    run: Run, owner: Ref, method: str, arguments: Arguments, node: cst.CSTNode, receiver: cst.BaseExpression
) -> Value:
    """Move or cast a module in place: what is registered goes, what is not stays."""
    request = requested(run, method, arguments, node)
    first = _widest(run, owner)

    def change(placement: Placement, dtype: Dtype) -> tuple[Placement, Dtype]:
        if request.placement is not None and not _same_device(placement, request.placement, run):
            placement = request.placement
        if request.dtype is not None and (dtype.name is None or is_floating(dtype.name)):
            dtype = request.dtype
        return placement, dtype

    relocate(run, owner, change)
    if first is not None:
        after = _widest(run, owner) or first
        frame = run.loops[-1] if run.loops else None
        invariant = (
            frame is not None and not varies_in(receiver, frame.assigned) and _target_invariant(request, frame.assigned)
        )
        run.emit(
            Transfer(
                run.context_at(node), method, run.place(receiver), True, first.placement,
                after.placement if request.placement is None else request.placement,
                first.dtype, after.dtype, invariant=invariant, in_place=True, moves=request.placement is not None,
                parameter=first.leaf is True,
            )
        )  # fmt: skip
    return owner


def _widest(run: Run, owner: Ref) -> Tensor | None:
    """The tensor that stands for a module's: one that holds float64, else the first parameter."""
    found = [run.settle(tensor) for buffers in (False, True) for _, tensor in tensors_of(run, owner, buffers=buffers)]
    return next((one for one in found if one.dtype.name == "float64"), found[0] if found else None)


def read_by_numpy(
    run: Run,
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
    tensor = run.settle(tensor)
    run.emit(
        HostRead(
            run.context_at(node), reader, tensor, run.place(operand), needs_host=not force, needs_no_grad=not force,
            unfinished=unfinished(run, tensor), grad_enabled=run.state.ambient.grad, inside=inside,
            array=run.place(array) if array is not None else None,
        )
    )  # fmt: skip
