"""NumPy and pandas, as far as the dtype of what they return goes; and tensors that they read through `__array__`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from devlint.flow.arguments import Argument, bind_row
from devlint.flow.iteration import iterate
from devlint.flow.numpy_memory import follow_memory
from devlint.flow.run import Run
from devlint.semantics.table import Row
from devlint.values.dtype import UNKNOWN_DTYPE, Dtype, Source, canonical, category, promote_names
from devlint.values.heap import Instance
from devlint.values.memory import Memory
from devlint.values.trace import Kind
from devlint.values.value import (
    UNKNOWN,
    Array,
    Const,
    DtypeValue,
    Fresh,
    Library,
    Number,
    Origin,
    Ref,
    Tensor,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from devlint.flow.library.registry import Invocation


def numpy_call(run: Run, invocation: Invocation) -> Value:
    """A NumPy or pandas call by its row; unknown without one."""
    receiver = invocation.receiver_argument
    owner = run.instance(receiver.value) if receiver is not None else None
    if owner is not None and isinstance(owner.cls, str):
        # A random generator's methods are rows of their own, without a receiver.
        row, receiver = run.engine.numpy.find(f"{owner.cls}.{invocation.name}"), None
    elif receiver is not None:
        row = run.engine.numpy.find(f"numpy.ndarray.{invocation.name}")
    else:
        row = run.engine.numpy.find(invocation.name)
        read_tensors(run, invocation)
    source = receiver.value if receiver is not None else None
    if source is None and invocation.arguments.positional:
        source = invocation.arguments.positional[0].value
    memory = follow_memory(run, invocation, source)
    if row is None:
        return UNKNOWN
    bound = bind_row(row, invocation.arguments, receiver, {})
    returns = row.returns.partition(":")[0]
    if returns == "generator":
        cls = "numpy.random.RandomState" if invocation.name.endswith("RandomState") else "numpy.random.Generator"
        return run.allocate(invocation.node, Instance(cls, {}))
    if returns in ("number", "bool"):
        return Number("bool" if returns == "bool" else None)
    if returns not in ("array", "self"):
        return UNKNOWN
    dtype = _dtype(run, row, bound)
    step = run.step(Kind.CREATED, f"made by {invocation.name.replace('numpy.', 'np.')}", invocation.node)
    if dtype.name == "float64" and dtype.trace is None:
        dtype = replace(dtype, trace=step)
    fresh = None
    if row.fresh or row.random:
        fresh = Fresh(Origin.RANDOM if row.random else Origin.NOTHING, step)
    elif isinstance(source, Array) and invocation.name.rpartition(".")[2] in (
        "astype",
        "copy",
        "asarray",
        "ascontiguousarray",
    ):
        fresh = source.fresh
    return Array(dtype, fresh, memory, step)


def read_tensors(run: Run, invocation: Invocation) -> None:
    """A NumPy function handed a tensor, or a list of tensors, reads it on the host."""
    from devlint.flow.transfer import read_by_numpy

    reader = invocation.name.replace("numpy.", "np.")
    for argument in invocation.arguments:
        for tensor in _tensors_in(run, argument):
            inside = not isinstance(argument.value, Tensor)
            read_by_numpy(run, tensor, reader, invocation.node, argument.node, inside=inside)
            break


def _tensors_in(run: Run, argument: Argument) -> Iterator[Tensor]:
    match argument.value:
        case Tensor() as tensor:
            yield tensor
        case Tuple() | Ref() as container:
            found = iterate(run, container, argument.node)
            for one in found.items if found.items is not None else (found.element,):
                if isinstance(one, Tensor):
                    yield one


def _dtype(run: Run, row: Row, bound: dict[str, list[Argument]]) -> Dtype:
    """The dtype a NumPy row's rule gives."""
    rule = row.dtype if isinstance(row.dtype, str) else "unknown"
    kind, _, name = rule.partition(":")
    given = bound.get("dtype")
    if kind in ("kwarg", "kwarg-or", "astype") and given is not None:
        return dtype_named(given[0].value)
    if kind in ("kwarg", "kwarg-or"):
        if name in ("default", ""):
            return Dtype("float64", Source.NUMPY)
        kind = canonical(name) or ("same" if name in bound else name)
    match kind:
        case "same" | "data" | "promote" | "float" | "sum" | "literal":
            names = [name] if name in bound else list(bound)
            found = [data_dtype(run, argument) for key in names for argument in bound[key] if key != "dtype"]
            result = _promote(found)
            if kind == "sum" and result.name is not None and category(result.name) < 2:
                return Dtype("int64", Source.NUMPY)
            if kind == "float" and result.name is not None and category(result.name) < 2:
                return Dtype("float64", Source.NUMPY)
            return result
        case "unknown" | "":
            return UNKNOWN_DTYPE
    return Dtype(canonical(kind), Source.NUMPY)


def dtype_named(value: Value) -> Dtype:
    """The dtype that an argument such as `np.float32`, `"float32"` or `float` names."""
    match value:
        case DtypeValue(dtype=dtype):
            return replace(dtype, source=Source.EXPLICIT)
        case Const(value=str(text)):
            return Dtype(canonical(text), Source.EXPLICIT)
        case Library(name="builtins.float"):
            return Dtype("float64", Source.EXPLICIT)
        case Library(name="builtins.int"):
            return Dtype("int64", Source.EXPLICIT)
        case Library(name="builtins.bool"):
            return Dtype("bool", Source.EXPLICIT)
    return UNKNOWN_DTYPE


def data_dtype(run: Run, argument: Argument, *, number: str = "float64") -> Dtype:
    """The dtype that data has as an array: Python floats are float64, ints int64."""
    return _value_dtype(run, argument.value, argument.node, number, 0)


def _value_dtype(run: Run, value: Value, node: cst.BaseExpression, number: str, depth: int) -> Dtype:
    match value:
        case Array(dtype=dtype):
            return dtype
        case Tensor():
            return run.settle(value).dtype
        case Const(value=bool()) | Number(kind="bool"):
            return Dtype("bool", Source.PYTHON)
        case Const(value=int()) | Number(kind="int"):
            return Dtype("int64", Source.PYTHON)
        case Const(value=float()) | Number(kind="float"):
            return Dtype(number, Source.PYTHON)
        case Tuple() | Ref() if depth < 4:
            found = iterate(run, value, node)
            values = found.items if found.items is not None else (found.element,)
            return _promote([_value_dtype(run, one, node, number, depth + 1) for one in values])
    return UNKNOWN_DTYPE


def _promote(dtypes: Sequence[Dtype]) -> Dtype:
    if not dtypes or any(one.name is None for one in dtypes):
        return UNKNOWN_DTYPE
    result = dtypes[0]
    for one in dtypes[1:]:
        assert result.name is not None and one.name is not None
        name = promote_names(result.name, one.name)
        if name is None:
            return UNKNOWN_DTYPE
        result = result if name == result.name else one if name == one.name else Dtype(name)
    return result


def array_operation(run: Run, method: str, left: Value, right: Value, node: cst.CSTNode) -> Value:
    """An operator on an array and another array or a number: a Python number does not widen an array's floats."""
    arrays = [one for one in (left, right) if isinstance(one, Array)]
    others = [one for one in (left, right) if not isinstance(one, Array)]
    dtype = _promote([one.dtype for one in arrays])
    if method == "truediv" and dtype.name is not None and category(dtype.name) < 2:
        dtype = Dtype("float64", Source.NUMPY, run.step(Kind.CREATED, "computed by NumPy in float64", node))
    for other in others:
        match other:
            case Const(value=float()) | Number(kind="float"):
                if dtype.name is not None and category(dtype.name) < 2:
                    dtype = Dtype("float64", Source.NUMPY, run.step(Kind.CREATED, "computed by NumPy in float64", node))
            case Const(value=int()) | Number(kind="int" | "bool"):
                pass
            case _:
                return Array()
    return Array(dtype, memory=Memory(), trace=arrays[0].trace)
