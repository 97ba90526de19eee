"""The dtype of what NumPy returns, by its row's rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from devlint.domain.dtype import (
    UNKNOWN_DTYPE,
    Dtype,
    DtypeSource,
    canonical_dtype_name,
    promote_array_dtypes,
    promote_tensor_dtypes,
    promotion_category,
)
from devlint.domain.value import NONE, Array
from devlint.interpreter.operations.data_dtypes import data_dtype, promote_dtypes, python_kind
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.operations.result_dtypes import real_part
from devlint.interpreter.operations.row_conditions import is_passed, select_by_condition
from devlint.interpreter.state.arguments import Argument
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

Bound = Mapping[str, list[Argument]]

SETTINGS: Final = frozenset("axis axes dtype out ord keepdims condition subscripts q".split())
"""Parameters that say how to compute, not what with."""

LIKE_OPERANDS: Final = frozenset("self other x1 x2 x y a_min a_max".split())
"""Parameters for which a Python number is weak: it only raises the category of the arrays beside it (NEP 50)."""

NARROW: Final = frozenset({"bool", "int8", "uint8", "int16", "uint16"})
"""Integers that some floating functions turn into less than float64: `np.sqrt(uint8)` is float16, `np.divide` not."""


WIDE: Final = frozenset({"int32", "int64", "uint32", "uint64"})
"""Integers that float32 cannot hold."""


def array_dtype(frame: Frame, row: Row, bound: Bound) -> Dtype:
    """The dtype that a row gives for these arguments."""
    if is_passed(bound, "dtype"):
        return requested_dtype(bound["dtype"][0].value)
    stated = select_by_condition(bound, row.dtype_if, row.dtype)
    rule = stated if isinstance(stated, str) else "unknown"
    kind, _, names = rule.partition(":")
    match kind:
        case "kwarg":
            return Dtype(canonical_dtype_name(names), DtypeSource.NUMPY)
        case "literal" | "same" | "kwarg-or" | "real":
            dtype = promote_dtypes(
                [data_dtype(frame, one) for name in names.split(",") for one in bound.get(name, ())],
                promote_array_dtypes,
            )
            return real_part(dtype) if kind == "real" else dtype
        case "promote":
            return _promoted(frame, bound)
        case "float":
            dtype = _promoted(frame, bound)
            if dtype.name is None and _divides_integers(frame, row, bound):
                return Dtype("float64", DtypeSource.NUMPY)
            return _floating(dtype, row)
        case "sum":
            return _summed(_promoted(frame, bound))
    return Dtype(canonical_dtype_name(rule), DtypeSource.NUMPY)


def _promoted(frame: Frame, bound: Bound) -> Dtype:
    """NumPy's promotion of the operands."""
    strong: list[Dtype] = []
    weak: list[Dtype] = []
    for name, arguments in bound.items():
        if name in SETTINGS:
            continue
        for argument in arguments:
            if argument.value == NONE:
                continue
            number = name in LIKE_OPERANDS and python_kind(argument.value) is not None
            (weak if number else strong).append(data_dtype(frame, argument))
    result = promote_dtypes(strong or weak, promote_array_dtypes)
    if result.name is None:
        # There is nothing wider than float64 that NumPy would make of it with another real number.
        return next((one for one in strong if one.name == "float64"), UNKNOWN_DTYPE)
    for number_dtype in weak if strong else ():
        if result.name is None or number_dtype.name is None:
            return UNKNOWN_DTYPE
        if promotion_category(number_dtype.name) > promotion_category(result.name):
            # A Python float makes float64 of integers; a complex number keeps the precision of floats.
            result = (
                number_dtype
                if promotion_category(result.name) < 2
                else Dtype(promote_tensor_dtypes("complex64", result.name))
            )
    return result


def _divides_integers(frame: Frame, row: Row, bound: Bound) -> bool:
    """Whether an array of wide integers is divided, or divides: whatever real numbers stand beside it, that is
    float64."""
    operands = [one for name, arguments in bound.items() if name in LIKE_OPERANDS for one in arguments]
    arrays = [one for one in operands if isinstance(one.value, Array) and one.value.rank.is_dimensioned]
    return row.name.rpartition(".")[2] in DIVISIONS and any(data_dtype(frame, one).name in WIDE for one in arrays)


def _floating(dtype: Dtype, row: Row) -> Dtype:
    if dtype.name is None or promotion_category(dtype.name) >= 2:
        return dtype
    reduces_or_divides = "axis" in row.params or row.name.rpartition(".")[2] in DIVISIONS
    return UNKNOWN_DTYPE if dtype.name in NARROW and not reduces_or_divides else Dtype("float64", DtypeSource.NUMPY)


DIVISIONS: Final = frozenset({"divide", "true_divide", "__truediv__", "__rtruediv__"})


def _summed(dtype: Dtype) -> Dtype:
    if dtype.name is None or promotion_category(dtype.name) >= 2:
        return dtype
    return Dtype("uint64" if dtype.name.startswith("uint") else "int64", DtypeSource.NUMPY)
