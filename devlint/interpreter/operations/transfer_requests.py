"""Transfer requests: the device and dtype that the arguments of `.to()`, `.cuda()`, `.type()` and others ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from devlint.domain.device import ANY_INDEX, CPU, DeviceSymbol, KnownDevice, is_accelerator, is_host
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource
from devlint.domain.join import join_dtypes
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    Placement,
    PlacementCase,
    Step,
    StepKind,
    map_cases,
    placement_cases,
)
from devlint.domain.placement_lattice import join_under
from devlint.domain.torch_names import ACCELERATOR_METHODS, CAST_METHODS
from devlint.domain.value import (
    ConditionalValue,
    Const,
    DtypeValue,
    LibraryName,
    Tensor,
    TypeName,
    Unknown,
    Value,
    as_tensor,
)
from devlint.interpreter.operations.device_arguments import (
    is_absent_or_none,
    is_called_device,
    requested_placement,
    resolve_device_index,
)
from devlint.interpreter.operations.dtype_arguments import is_called_dtype, is_dtype_argument, requested_dtype
from devlint.interpreter.operations.hard_coded_devices import report_hard_coded_target, report_hard_coded_transfer
from devlint.interpreter.operations.tensor_types import legacy_type
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import InvalidDeviceUsed, LegacyTypeUsed
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
    step = replace(frame.step(StepKind.MOVED, f"moved by `.{method}()`", node), source=source)
    request = _read(frame, method, arguments, step)
    if request.dtype is None or not request.dtype.is_known:
        return request
    # A dtype that the program names, or takes over from a tensor, is this tensor's since the call.
    return replace(request, dtype=replace(request.dtype, made=step))


def _read(frame: Frame, method: str, arguments: Arguments, step: Step) -> TransferRequest:
    """Return the placement and dtype that the arguments of a transfer method ask for; `step` is the transfer."""
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
    match device:
        case Argument(value=Const(value=str(text)), node=node) if text.startswith("cpu"):
            reason = f"`.{method}()` takes an accelerator, not {text!r}"
            frame.emit(InvalidDeviceUsed(frame.event_context(node), text, reason, of_host=True))
            return TransferRequest(UNKNOWN_PLACEMENT, None, non_blocking)
    if device is None or is_absent_or_none(device.value):
        report_hard_coded_transfer(frame, method, arguments.node, f".{method}()")
        if not arguments.complete:
            return TransferRequest(UNKNOWN_PLACEMENT, None, non_blocking)
        return TransferRequest(
            PlacementCase(resolve_device_index(frame, KnownDevice(method)), Basis.EXPLICIT, step), None, non_blocking
        )
    given = device.value.value if isinstance(device.value, Const) else None
    written = (
        f"{method}:{given}" if isinstance(given, int) and given > 0 else given if isinstance(given, str) else method
    )
    report_hard_coded_transfer(frame, written, arguments.node, f".{method}({{}})", device.node)
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
            if isinstance(step.place.node, cst.CSTNode) and not all(
                is_host(leaf.device) for _, leaf in placement_cases(placement, frame.state.path_condition)
            ):
                frame.emit(LegacyTypeUsed(frame.event_context(step.place.node), "torch.Tensor.type"))
            placed = map_cases(placement, lambda leaf: replace(leaf, provenance=step, basis=Basis.EXPLICIT))
            return TransferRequest(placed, replace(dtype, source=DtypeSource.EXPLICIT))
        case LibraryName(name=name) | Const(value=str(name)):
            found = legacy_type(frame, name, step)
            node = step.place.node
            if isinstance(value, Const) and isinstance(node, cst.CSTNode) and found and is_accelerator(found[0].device):
                frame.emit(LegacyTypeUsed(frame.event_context(node), name))
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
        report_hard_coded_target(frame, device, arguments.node)
    kind: Dtype | None = None
    if dtype is not None and not is_absent_or_none(dtype.value):
        kind = requested_dtype(dtype.value)
    elif device is not None and isinstance(device.value, Unknown) and not is_called_device(device.node):
        # It may be a tensor, whose dtype the result takes over, or a dtype.
        kind = UNKNOWN_DTYPE
    return TransferRequest(target, kind, non_blocking, device.node if device is not None else None, copies, reorders)
