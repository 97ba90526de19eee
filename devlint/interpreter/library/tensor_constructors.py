"""Models of functions that make tensors from existing data: Python values, arrays and other tensors."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.domain.device import CPU, is_accelerator
from devlint.domain.dtype import Dtype, DtypeSource
from devlint.domain.join import alternatives, without_none
from devlint.domain.placement import (
    Basis,
    ConditionalPlacement,
    Placement,
    PlacementCase,
    StepKind,
    extend_provenance,
    placement_cases,
)
from devlint.domain.record import replace
from devlint.domain.storage import Storage
from devlint.domain.value import UNKNOWN, Array, ConditionalValue, Number, SymbolicBool, Tensor, Unknown, Value
from devlint.interpreter.conditions.alternatives import compute_per_alternative
from devlint.interpreter.conditions.narrowing import is_on_host
from devlint.interpreter.objects.evidence import looks_like_tensor
from devlint.interpreter.operations.aliasing import alias_storage, storage_of
from devlint.interpreter.operations.data_dtypes import TORCH_RULES, data_dtype
from devlint.interpreter.operations.device_arguments import default_placement, is_absent_or_none, requested_placement
from devlint.interpreter.operations.device_expressions import device_expressions_at
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.operations.dtype_origins import dtype_with_origin
from devlint.interpreter.operations.empty_tensors import empty_sizes_of_data
from devlint.interpreter.operations.result_dtypes import complex_of
from devlint.interpreter.operations.tensor_ranks import rank_of_data
from devlint.interpreter.operations.tensor_transfers import is_only_use
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Argument, LibraryCall
from devlint.interpreter.state.events import DataUploaded, TensorRebuilt
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.library_models import models_call

_TAKEN: Final = frozenset({"data", "device", "dtype", "names", "pin_memory", "requires_grad"})
"""The keywords of `torch.tensor`."""


@models_call("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor")
def tensor(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.tensor(data)` and the like: floats become float32, arrays keep their dtype.

    The tensor is on the default device, unless the call or a tensor passed as data decides otherwise.
    """
    if call.name == "torch.tensor" and not _TAKEN.issuperset(call.arguments.keywords):
        frame.fail()
        return UNKNOWN
    data = call.arguments.get("data", 0) or call.arguments.get("obj", 0) or call.arguments.get("s", 0)
    if data is None:
        return Tensor()
    if call.name == "torch.tensor" and len(call.arguments.positional) > 1:
        # It takes its data as one argument, and raises for sizes.
        frame.fail()
        return UNKNOWN
    value = without_none(data.value)
    if isinstance(value, ConditionalValue) and any(isinstance(one, Tensor) for one in alternatives(value)):
        return compute_per_alternative(frame, value, lambda one: _made_of(frame, call, replace(data, value=one)))
    return _made_of(frame, call, data)


def _made_of(frame: Frame, call: LibraryCall, data: Argument) -> Value:
    """Return the tensor that a call of `torch.tensor` and the like makes of its data."""
    given = () if is_absent_or_none(_given_dtype(call)) else ("dtype",)
    dtype = dtype_with_origin(frame, _result_dtype(frame, call, data), call.name, call.node, given)
    value = without_none(data.value)
    source = value if isinstance(value, Tensor) else None
    device = call.arguments.get("device")
    name = call.name
    if device is not None and not is_absent_or_none(device.value):
        placement = requested_placement(
            frame, device.value, device.node, frame.step(StepKind.CREATED, f"created by `{name}`", call.node)
        )
    elif source is not None and frame.state.torch_state.default_device is None:
        placement = frame.resolve(source).placement
    elif (
        not call.arguments.complete
        or (source and isinstance(frame.state.torch_state.default_device, ConditionalPlacement))
        or _may_be_tensor(frame, value, said=name == "torch.tensor")
        or (isinstance(value, Unknown) and _is_called_tensor(frame, data.node))
        or (name != "torch.tensor" and isinstance(value, (SymbolicBool, Number, Unknown)) and _is_mask(data.node))
    ):
        return Tensor(dtype=dtype)
    else:
        placement = default_placement(frame, name, call.node)
    if isinstance(value, Array):
        placement = placement_after_array(value, placement)
    if isinstance(value, (Tensor, Array)):
        report_rebuilt_tensor(frame, call, data, frame.resolve_value(value), placement)
    _wait_for_copy(frame, call.node, value, placement)
    requires = call.arguments.constant("requires_grad", None, False)
    return Tensor(
        placement,
        dtype,
        rank_of_data(frame, value),
        grad=requires if isinstance(requires, bool) else None,
        leaf=True,
        fresh=value.fresh if isinstance(value, Array) else None,
        memory=_memory_of_data(frame, call, value),
        empty_sizes=empty_sizes_of_data(frame, value),
    )


def _wait_for_copy(frame: Frame, node: cst.CSTNode, data: Value, placement: Placement) -> None:
    """Record that the host waits until its data is copied to an accelerator, after all that was launched before.

    What is not known may be a tensor of that accelerator, but mostly is data of the host.
    """
    on_host = not isinstance(data, Tensor) or is_on_host(frame.resolve(data))
    if on_host and any(is_accelerator(leaf.device) for _, leaf in placement_cases(placement)):
        frame.emit(DataUploaded(frame.event_context(node)))
        frame.synchronize()


def _may_be_tensor(frame: Frame, value: Value, *, said: bool) -> bool:
    """Return whether the data passed to a tensor constructor is a function parameter that may itself be a tensor.

    The constructed tensor would then be on the device of the parameter. With `said`, and inside an `__init__`, only a
    parameter annotated as a tensor counts; elsewhere a parameter without an annotation counts too.
    """
    match value:
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            names = info.annotation_last_names(name)
            return "Tensor" in names or not (said or names or frame.scope.construction)
    return False


def _is_called_tensor(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the code around calls an expression a tensor: by an annotation, or as only tensors are used.

    What the call of a function hands over may be unknown where the function says what it is.
    """
    info = frame.function
    said = info is not None and isinstance(node, cst.Name) and "Tensor" in info.annotation_last_names(node.value)
    return said or looks_like_tensor(frame, node, array_like=False)


def _is_mask(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a comparison, or comparisons joined by `&`, `|`, `^` and `~`.

    Of values of unknown type, it may be a tensor of bools as well as a bool.
    """
    match node:
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator)]):
            return not isinstance(operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn))
        case cst.BinaryOperation(operator=cst.BitAnd() | cst.BitOr() | cst.BitXor(), left=left, right=right):
            return _is_mask(left) or _is_mask(right)
        case cst.UnaryOperation(operator=cst.BitInvert(), expression=inner):
            return _is_mask(inner)
    return False


def _memory_of_data(frame: Frame, call: LibraryCall, data: Value) -> Storage | None:
    """Return the memory of a tensor made from data: for `as_tensor` and `asarray` that of the data, else new memory.

    `as_tensor` and `asarray` copy where they must, so the memory is marked as only possibly shared.
    """
    if call.name not in ("torch.as_tensor", "torch.asarray"):
        return Storage()
    return alias_storage(frame, storage_of(data), f"`{call.name}`", call.node, surely=False)


def placement_after_array(array: Array, placement: Placement) -> Placement:
    """Return the placement of a tensor made from an array, with a provenance that continues the array's provenance."""
    return extend_provenance(
        placement, lambda step: replace(step, previous=array.provenance) if step is not None else None
    )


def report_rebuilt_tensor(frame: Frame, call: LibraryCall, data: Argument, source: Value, placement: Placement) -> None:
    """Report that a call such as `torch.tensor(x)` makes a tensor from another tensor or from an array."""
    origin = source.fresh if isinstance(source, Array) else None
    only = is_only_use(frame, data.node, call.node)
    frame.emit(TensorRebuilt(frame.event_context(call.node), call.name, source, origin, placement, only))


def _given_dtype(call: LibraryCall) -> Value | None:
    """Return the dtype that a call which makes a tensor of data asks for; None where it asks for none."""
    return call.arguments.value("dtype", 1 if call.name == "torch.as_tensor" else None)


def _result_dtype(frame: Frame, call: LibraryCall, data: Argument) -> Dtype:
    """Return the dtype of a tensor made from data: the dtype that the call requests, else that of the data.

    For float64 from NumPy data, the dtype's provenance gets a step that says where float64 entered torch.
    """
    given = _given_dtype(call)
    if given is not None and not is_absent_or_none(given):
        return requested_dtype(given)
    dtype = data_dtype(frame, data, TORCH_RULES)
    if dtype.source is DtypeSource.PYTHON and dtype.name in ("float32", "complex64"):
        default = frame.state.torch_state.default_dtype
        return default if dtype.name == "float32" else complex_of(default)
    if dtype.name == "float64" and not isinstance(data.value, Tensor):
        step = frame.step(
            StepKind.CONVERTED,
            f"float64 enters torch through `{call.name}`, which keeps NumPy's dtype",
            call.node,
            dtype.provenance,
        )
        return replace(dtype, provenance=step, made=None)
    return dtype


@models_call("torch.from_numpy", "torch.frombuffer", "torch.from_file")
def from_numpy(frame: Frame, call: LibraryCall) -> Value:
    """Model `torch.from_numpy(array)`: a tensor with the array's memory and dtype.

    The tensor is on the host, whatever the default device is.
    """
    argument = call.arguments.get("ndarray", 0)
    value = without_none(argument.value) if argument is not None else UNKNOWN
    array = value if isinstance(value, Array) else Array()
    step = frame.step(
        StepKind.CREATED,
        f"made on the host by `{call.name}`, which shares the array's memory",
        call.node,
        array.provenance,
    )
    dtype = array.dtype
    if dtype.name == "float64":
        message = f"float64 enters torch through `{call.name}`, which keeps NumPy's dtype"
        before = dtype.provenance or array.provenance
        dtype = replace(dtype, provenance=frame.step(StepKind.CONVERTED, message, call.node, before), made=None)
    placement = PlacementCase(CPU, Basis.DEFAULT, replace(step, device_expressions=device_expressions_at(frame)))
    memory = alias_storage(frame, storage_of(value), f"`{call.name}`", call.node)
    if isinstance(value, Array) and argument is not None:
        report_rebuilt_tensor(frame, call, argument, array, placement)
    return Tensor(placement, dtype, array.rank, grad=False, leaf=True, fresh=array.fresh, memory=memory)
