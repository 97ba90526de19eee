"""Factories that make tensors of data: of Python values, arrays and other tensors."""

from __future__ import annotations

from dataclasses import replace

from devlint.domain.device import CPU
from devlint.domain.dtype import Dtype, Source
from devlint.domain.join import without_none
from devlint.domain.placement import Choice, How, Kind, Leaf, Placement, retrace
from devlint.domain.storage import Memory
from devlint.domain.value import UNKNOWN, Array, Tensor, Unknown, Value
from devlint.interpreter.operations.aliasing import handed_on, memory_of
from devlint.interpreter.operations.data_dtypes import TORCH, data_dtype
from devlint.interpreter.operations.device_arguments import default_placement, is_none, placement_from
from devlint.interpreter.operations.device_expressions import wordings
from devlint.interpreter.operations.dtype_arguments import dtype_named
from devlint.interpreter.operations.result_dtypes import complex_of
from devlint.interpreter.operations.tensor_ranks import rank_of_data
from devlint.interpreter.operations.transfer_methods import is_only_use
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.arguments import Argument, Invocation
from devlint.interpreter.state.events import Conversion
from devlint.interpreter.state.frame import Run
from devlint.interpreter.state.library_models import model


@model("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor")
def tensor(run: Run, call: Invocation) -> Value:
    """`torch.tensor(data)`: floats are float32, arrays keep their dtype; on the default device unless told."""
    data = call.arguments.get("data", 0) or call.arguments.get("obj", 0) or call.arguments.get("s", 0)
    if data is None:
        return Tensor()
    dtype = _dtype_of(run, call, data)
    value = without_none(data.value)
    source = value if isinstance(value, Tensor) else None
    device = call.arguments.get("device")
    name = call.name
    if device is not None and not is_none(device.value):
        placement = placement_from(
            run, device.value, device.node, run.step(Kind.CREATED, f"created by {name}", call.node)
        )
    elif source is not None and run.state.ambient.default_device is None:
        placement = run.settle(source).placement
    elif (
        not call.arguments.complete
        or (source and isinstance(run.state.ambient.default_device, Choice))
        or _may_be_tensor(run, value, said=name == "torch.tensor")
    ):
        return Tensor(dtype=dtype)
    else:
        placement = default_placement(run, name, call.node)
    if isinstance(value, Array):
        placement = read_from(value, placement)
    if isinstance(value, (Tensor, Array)):
        tell_conversion(run, call, data, run.settle_value(value), placement)
    requires = call.arguments.constant("requires_grad", None, False)
    return Tensor(
        placement,
        dtype,
        rank_of_data(run, value),
        grad=requires if isinstance(requires, bool) else None,
        leaf=True,
        fresh=value.fresh if isinstance(value, Array) else None,
        memory=_memory_of_data(run, call, value),
    )


def _may_be_tensor(run: Run, value: Value, *, said: bool) -> bool:
    """Whether it is an argument that may be a tensor, whose device the result has. Where it has to be `said`, and of
    one that is given for good, to an object being made, only its annotation says so."""
    match value:
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            names = info.annotated(name)
            return "Tensor" in names or not (said or names or run.scope.construction)
    return False


def _memory_of_data(run: Run, call: Invocation, data: Value) -> Memory | None:
    """`torch.tensor` copies; `as_tensor` and `asarray` hand on the data's memory where they can."""
    if call.name not in ("torch.as_tensor", "torch.asarray"):
        return Memory()
    return handed_on(run, memory_of(data), f"`{call.name}`", call.node, surely=False)


def read_from(array: Array, placement: Placement) -> Placement:
    """The placement of a tensor made from an array: its story goes on from the array's."""
    return retrace(placement, lambda step: replace(step, previous=array.trace) if step is not None else None)


def tell_conversion(run: Run, call: Invocation, data: Argument, source: Value, placement: Placement) -> None:
    """Tell the rules that a tensor is made from a tensor or an array."""
    origin = source.fresh if isinstance(source, Array) else None
    only = is_only_use(run, data.node, call.node)
    run.emit(Conversion(run.context_at(call.node), call.name, source, origin, placement, only))


def _dtype_of(run: Run, call: Invocation, data: Argument) -> Dtype:
    given = call.arguments.value("dtype", 1 if call.name == "torch.as_tensor" else None)
    if not is_none(given):
        assert given is not None
        return dtype_named(given)
    dtype = data_dtype(run, data, TORCH)
    if dtype.source is Source.PYTHON and dtype.name in ("float32", "complex64"):
        default = run.state.ambient.default_dtype
        return default if dtype.name == "float32" else complex_of(default)
    if dtype.name == "float64" and not isinstance(data.value, Tensor):
        step = run.step(
            Kind.CONVERTED,
            f"float64 enters torch through {call.name}, which keeps NumPy's dtype",
            call.node,
            dtype.trace,
        )
        return replace(dtype, trace=step)
    return dtype


@model("torch.from_numpy", "torch.frombuffer", "torch.from_file")
def from_numpy(run: Run, call: Invocation) -> Value:
    """`torch.from_numpy(array)`: the array's memory and dtype, on the host whatever the default device."""
    argument = call.arguments.get("ndarray", 0)
    value = without_none(argument.value) if argument is not None else UNKNOWN
    array = value if isinstance(value, Array) else Array()
    step = run.step(Kind.CREATED, f"on the host: {call.name} shares the array's memory", call.node, array.trace)
    dtype = array.dtype
    if dtype.name == "float64":
        message = f"float64 enters torch through {call.name}, which keeps NumPy's dtype"
        dtype = replace(dtype, trace=run.step(Kind.CONVERTED, message, call.node, dtype.trace or array.trace))
    placement = Leaf(CPU, How.DEFAULT, replace(step, wordings=wordings(run)))
    memory = handed_on(run, memory_of(value), f"`{call.name}`", call.node)
    if isinstance(value, Array) and argument is not None:
        tell_conversion(run, call, argument, array, placement)
    return Tensor(placement, dtype, array.rank, grad=False, leaf=True, fresh=array.fresh, memory=memory)
