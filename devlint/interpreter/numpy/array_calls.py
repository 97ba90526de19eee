"""Calls, attributes and operators of NumPy and pandas: the dtype, rank and memory of results, and reads of tensors.

NumPy reads a tensor through `__array__`, which needs the tensor on the host.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import alternatives, is_number_or_tensor
from devlint.domain.objects import Instance, Sequence
from devlint.domain.placement import StepKind
from devlint.domain.storage import Storage
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    Array,
    BoundLibraryMethod,
    DtypeValue,
    FactoryOrigin,
    Number,
    OriginKind,
    Partial,
    ProgramDefinition,
    Rank,
    Ref,
    Size,
    Tensor,
    Tuple,
    Value,
)
from devlint.interpreter.numpy.array_aliasing import array_storage
from devlint.interpreter.numpy.array_dtypes import array_dtype
from devlint.interpreter.numpy.array_history import history_of_call, history_of_operand
from devlint.interpreter.operations.aliasing import storage_of_view
from devlint.interpreter.operations.argument_binding import bind_row_arguments
from devlint.interpreter.operations.extents import extent_of_result
from devlint.interpreter.operations.numpy_reads import report_numpy_read
from devlint.interpreter.operations.row_conditions import select_by_condition
from devlint.interpreter.operations.tensor_ranks import rank_by_rule, rank_of_data
from devlint.interpreter.state.arguments import Argument, BoundArguments, LibraryCall
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

METADATA_FUNCTIONS: Final = frozenset({"numpy.shape", "numpy.ndim", "numpy.size", "numpy.isscalar", "numpy.iterable"})
"""NumPy's functions that ask an object for its shape or kind, and read none of its elements."""

_DRAWN_NUMBERS: Final = {"float64": "float", "int64": "int"}
"""The type of the Python number that NumPy's random functions return instead of an array without dimensions."""


METHOD_FUNCTIONS: Final = frozenset(
    f"numpy.{name}"
    for name in "squeeze swapaxes real nonzero take_along_axis split array_split hsplit vsplit dsplit".split()
)
"""NumPy's functions that index a tensor, or call its own method as torch takes it: NumPy then reads no elements."""


def call_numpy(frame: Frame, invocation: LibraryCall) -> Value:
    """Return the result of a NumPy or pandas call by its row of devlint's NumPy table; unknown without a row."""
    receiver = invocation.receiver_argument
    owner = frame.instance(receiver.value) if receiver is not None else None
    if owner is not None and isinstance(owner.cls, str):
        # The methods of a random generator have rows of their own, which take no receiver.
        row, receiver = frame.analysis.numpy.find(f"{owner.cls}.{invocation.name}"), None
    elif receiver is not None:
        row = frame.analysis.numpy.find(f"numpy.ndarray.{invocation.name}")
    else:
        row = frame.analysis.numpy.find(invocation.name)
        first = next(iter(invocation.arguments.positional), None)
        if invocation.name in METHOD_FUNCTIONS and first is not None and isinstance(first.value, Tensor):
            return UNKNOWN
        if invocation.name not in METADATA_FUNCTIONS:
            report_tensors_read(frame, invocation, _sizes(row, invocation))
    computed_from = receiver or next(iter(invocation.arguments.positional), None)
    source = computed_from.value if computed_from is not None else None
    memory = array_storage(frame, invocation, source)
    if row is None:
        return UNKNOWN
    bound = bind_row_arguments(row, invocation.arguments, receiver, {})
    returns = (
        select_by_condition(bound, row.returns_if, row.returns, complete=invocation.arguments.complete) or "unknown"
    )
    if returns == "generator":
        cls = "numpy.random.RandomState" if invocation.name.endswith("RandomState") else "numpy.random.Generator"
        return frame.allocate(invocation.node, Instance(cls, {}))
    if returns in ("number", "bool"):
        return Number("bool" if returns == "bool" else None)
    if returns not in ("array", "self", "list"):
        return UNKNOWN
    own = [(name, rank_of_data(frame, one.value)) for name in row.params for one in bound.get(name, ())]
    rank = rank_by_rule(frame, row.rank, bound, own)
    rank = rank if invocation.arguments.complete else rank.lower_bound
    dtype = array_dtype(frame, row, bound)
    if row.random and _asks_for_no_size(row, bound):
        is_one = all(one is Rank.ZERO or (name == "a" and one.least < 2) for name, one in own if name != "size")
        if is_one and dtype.name in _DRAWN_NUMBERS:
            return Number(_DRAWN_NUMBERS[dtype.name])
        rank = Rank.ZERO if is_one and dtype.name is None else rank
        dtype = dtype if rank.is_dimensioned else UNKNOWN_DTYPE
    maker = f"by `{invocation.name.replace('numpy.', 'np.')}`"
    step = frame.step(
        StepKind.CREATED,
        f"made {f'in {dtype.name} ' if dtype.name else ''}{maker}",
        invocation.node,
        history_of_call(frame, invocation, computed_from),
    )
    if dtype.name == "float64" and dtype.provenance is None:
        dtype = replace(dtype, provenance=step)
    fresh = None
    if row.fresh or row.random:
        drawn = OriginKind.RANDOM if owner is None else OriginKind.GENERATOR
        kind = drawn if row.random else OriginKind.NOTHING
        fresh = FactoryOrigin(kind, step, extent_of_result(frame, row, bound, invocation.node))
    elif isinstance(source, Array) and invocation.name.rpartition(".")[2] in (
        "astype",
        "copy",
        "asarray",
        "ascontiguousarray",
    ):
        fresh = source.fresh
    array = Array(dtype, fresh, rank, memory, step)
    return frame.allocate(invocation.node, Sequence(None, array, "tuple")) if returns == "list" else array


def _asks_for_no_size(row: Row, bound: BoundArguments) -> bool:
    """Return whether a call of a random function leaves out how many numbers it is to draw."""
    given = bound.get("size")
    return row.rank == "shape" and (not given or given[0].value == NONE)


def _sizes(row: Row | None, invocation: LibraryCall) -> Collection[Argument]:
    """Return the arguments of a NumPy call that are sizes of the array which it makes."""
    if row is None or row.rank != "shape":
        return ()
    bound = bind_row_arguments(row, invocation.arguments, None, {})
    return bound.get("size", ()) if {"size", "*size"} & set(row.params) else bound.get("shape", ())


def report_tensors_read(frame: Frame, invocation: LibraryCall, sizes: Collection[Argument] = ()) -> None:
    """Report that a NumPy function reads its tensor arguments, or a tensor inside a container argument, on the host.

    One tensor is reported for each argument. When a function is among the arguments, containers are left out, because
    NumPy may only pass them on to that function. So are `sizes`: NumPy asks them for an integer by `__index__`, which a
    tensor on any device answers.
    """
    reader = invocation.name.replace("numpy.", "np.")
    calls_back = any(
        isinstance(one.value, (ProgramDefinition, BoundLibraryMethod, Partial)) for one in invocation.arguments
    )
    for argument in invocation.arguments:
        if argument in sizes or (calls_back and isinstance(argument.value, (Tuple, Ref))):
            continue
        for tensor in _tensors_in_argument(frame, argument):
            inside = isinstance(argument.value, (Tuple, Ref))
            report_numpy_read(frame, tensor, reader, invocation.node, argument.node, inside=inside)
            break


def _tensors_in_argument(frame: Frame, argument: Argument) -> Iterator[Tensor]:
    """Yield the tensors that an argument is or directly contains."""
    match argument.value:
        case Tuple() | Ref() as container:
            found = frame.iterate(container, argument.node)
            for one in found.items if found.items is not None else (found.element,):
                yield from _tensor_alternatives(frame, one)
        case alone:
            yield from _tensor_alternatives(frame, alone)


def _tensor_alternatives(frame: Frame, value: Value | None) -> Iterator[Tensor]:
    """Yield the tensors that a value may be: the value itself, or those of a value that is a number on other paths."""
    value = frame.as_single_tensor(value) if value is not None else UNKNOWN
    for one in alternatives(value) if is_number_or_tensor(value) else (value,):
        if isinstance(one, Tensor):
            yield one


def array_attribute(frame: Frame, array: Array, name: str, node: cst.CSTNode) -> Value:
    """Return the value of an array's property, or its method bound to the array."""
    if name == "dtype":
        return DtypeValue(array.dtype)
    row = frame.analysis.numpy.find(f"numpy.ndarray.{name}")
    if row is None or not row.property:
        return BoundLibraryMethod(array, name)
    match row.returns:
        case "number":
            return Number("int")
        case "size":
            return Size()
    array_argument = Argument(array, node if isinstance(node, cst.BaseExpression) else cst.Name("array"))
    dtype = array_dtype(frame, row, {"self": [array_argument]})
    return replace(array, fresh=None, dtype=dtype, memory=storage_of_view(frame, name, array.memory, node))


def apply_array_operator(frame: Frame, method: str, left: Argument, right: Argument, node: cst.CSTNode) -> Value:
    """Return the array that an operator computes from an array and another array or a number."""
    row = frame.analysis.numpy.find(f"numpy.ndarray.__{method}__")
    if row is None:
        return Array()
    dtype = array_dtype(frame, row, {"self": [left], "other": [right]})
    if dtype.name == "float64" and dtype.provenance is None:
        dtype = replace(dtype, provenance=frame.step(StepKind.CREATED, "computed by NumPy in float64", node))
    own = [(name, rank_of_data(frame, one.value)) for name, one in (("self", left), ("other", right))]
    rank = rank_by_rule(frame, row.rank, {}, own)
    operand = left if isinstance(left.value, Array) else right
    before = history_of_operand(frame, operand.value, operand.node, node)
    return Array(dtype, rank=rank, memory=Storage(), provenance=before)
