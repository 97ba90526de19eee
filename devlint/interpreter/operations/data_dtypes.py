"""Dtypes of the arrays and tensors that NumPy and torch make from Python data such as numbers and lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, promote_array_dtypes, promote_tensor_dtypes
from devlint.domain.value import Array, ConditionalValue, Const, Number, Ref, SymbolicBool, Tensor, Tuple, Value
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame

MAX_NESTED: Final = 4
"""Levels of nested lists that are searched; data written out in a program is rarely deeper."""


@dataclass(frozen=True, slots=True)
class DataDtypeRules:
    """The dtypes that a library (NumPy or torch) gives to Python data.

    They are the dtypes of Python's numbers, and the promotion of two dtypes in one list.
    """

    numbers: Mapping[str, str]
    promote: Callable[[str, str], str | None]


NUMPY_RULES: Final = DataDtypeRules(
    {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"},
    promote_array_dtypes,
)
"""The dtypes that NumPy gives to Python data."""
TORCH_RULES: Final = DataDtypeRules(
    {"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"},
    promote_tensor_dtypes,
)
"""The dtypes that torch gives to Python data."""


def data_dtype(frame: Frame, argument: Argument, reading: DataDtypeRules = NUMPY_RULES) -> Dtype:
    """Return the dtype of the array or tensor made from an argument's data; unknown unless all of the data is known."""
    return _value_dtype(frame, argument.value, argument.node, reading, 0)


def python_kind(value: Value) -> str | None:
    """Return the type name of a Python number, such as `int`; None for an unknown type and for other values."""
    match value:
        case Const(value=bool() | int() | float() | complex() as constant):
            return type(constant).__name__
        case Number(kind=kind):
            return kind
        case SymbolicBool():
            return "bool"
        case ConditionalValue(yes=yes, no=no):
            kind = python_kind(yes)
            return kind if kind == python_kind(no) else None
    return None


def _value_dtype(frame: Frame, value: Value, node: cst.BaseExpression, reading: DataDtypeRules, depth: int) -> Dtype:
    """Return the dtype of the array or tensor that would be made from a value, nested lists and tuples included.

    `depth` is how many lists or tuples around the value have been opened so far.
    """
    kind = python_kind(value)
    if kind is not None:
        return Dtype(reading.numbers.get(kind), DtypeSource.PYTHON)
    match value:
        case Array(dtype=dtype):
            return dtype
        case Tensor():
            return frame.resolve(value).dtype
        case Tuple() | Ref() if depth < MAX_NESTED:
            found = frame.iterate(value, node)
            values = found.items if found.items is not None else (found.element,)
            return promote_dtypes(
                [_value_dtype(frame, one, node, reading, depth + 1) for one in values], reading.promote
            )
    return UNKNOWN_DTYPE


def promote_dtypes(dtypes: Sequence[Dtype], promote: Callable[[str, str], str | None]) -> Dtype:
    """Return the promotion of several dtypes; unknown if one is unknown.

    If the result equals one of the dtypes, it keeps the provenance of that one.
    """
    if not dtypes or any(one.name is None for one in dtypes):
        return UNKNOWN_DTYPE
    result = dtypes[0]
    for one in dtypes[1:]:
        name = promote(result.name, one.name) if result.name is not None and one.name is not None else None
        if name is None:
            return UNKNOWN_DTYPE
        result = result if name == result.name else one if name == one.name else Dtype(name)
    return result
