"""Dtypes of the arrays that NumPy calls return, by the dtype rule of the function's row in devlint's NumPy table."""

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

CONFIGURATION_PARAMETERS: Final = frozenset("axis axes dtype out ord keepdims condition subscripts q".split())
"""Parameters that configure a computation and hold no data, so that promotion ignores them."""

OPERAND_PARAMETERS: Final = frozenset("self other x1 x2 x y a_min a_max".split())
"""Parameters for which a Python number is weak: it only raises the category of the arrays beside it (NEP 50)."""

NARROW_INTEGERS: Final = frozenset({"bool", "int8", "uint8", "int16", "uint16"})
"""Small integer dtypes, which some floating-point functions turn into less than float64.

`np.sqrt(uint8)` is float16; `np.divide` gives float64.
"""


WIDE_INTEGERS: Final = frozenset({"int32", "int64", "uint32", "uint64"})
"""Integer dtypes whose values float32 cannot hold, so that NumPy promotes them with float32 to float64."""


def array_dtype(frame: Frame, row: Row, bound: Bound) -> Dtype:
    """Return the dtype of the array that a NumPy call returns, by the dtype rule of devlint's NumPy table.

    A `dtype=` argument overrides the rule.
    """
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
            return _promoted_dtype(frame, bound)
        case "float":
            dtype = _promoted_dtype(frame, bound)
            if dtype.name is None and _divides_integers(frame, row, bound):
                return Dtype("float64", DtypeSource.NUMPY)
            return _to_floating(dtype, row)
        case "sum":
            return _to_sum(_promoted_dtype(frame, bound))
    return Dtype(canonical_dtype_name(rule), DtypeSource.NUMPY)


def _promoted_dtype(frame: Frame, bound: Bound) -> Dtype:
    """Return the dtype to which NumPy promotes the arrays and numbers that a call computes with; unknown if unclear."""
    strong: list[Dtype] = []
    weak: list[Dtype] = []
    for name, arguments in bound.items():
        if name in CONFIGURATION_PARAMETERS:
            continue
        for argument in arguments:
            if argument.value == NONE:
                continue
            number = name in OPERAND_PARAMETERS and python_kind(argument.value) is not None
            (weak if number else strong).append(data_dtype(frame, argument))
    result = promote_dtypes(strong or weak, promote_array_dtypes)
    if result.name is None:
        # NumPy promotes float64 and any other real dtype to float64.
        return next((one for one in strong if one.name == "float64"), UNKNOWN_DTYPE)
    for number_dtype in weak if strong else ():
        if result.name is None or number_dtype.name is None:
            return UNKNOWN_DTYPE
        if promotion_category(number_dtype.name) > promotion_category(result.name):
            # A Python float turns integers into float64; a Python complex keeps the precision of a floating dtype.
            result = (
                number_dtype
                if promotion_category(result.name) < 2
                else Dtype(promote_tensor_dtypes("complex64", result.name))
            )
    return result


def _divides_integers(frame: Frame, row: Row, bound: Bound) -> bool:
    """Return whether an array of wide integers is an operand of a division.

    The result is float64 then, whatever real operand stands beside the array.
    """
    operands = [one for name, arguments in bound.items() if name in OPERAND_PARAMETERS for one in arguments]
    arrays = [one for one in operands if isinstance(one.value, Array) and one.value.rank.is_dimensioned]
    return row.name.rpartition(".")[2] in DIVISIONS and any(
        data_dtype(frame, one).name in WIDE_INTEGERS for one in arrays
    )


def _to_floating(dtype: Dtype, row: Row) -> Dtype:
    """Return the dtype that a floating-point function computes for arguments of a dtype.

    Integers become float64 (or an unknown dtype, for narrow integers outside of divisions and reductions); floats stay.
    """
    if dtype.name is None or promotion_category(dtype.name) >= 2:
        return dtype
    reduces_or_divides = "axis" in row.params or row.name.rpartition(".")[2] in DIVISIONS
    return (
        UNKNOWN_DTYPE
        if dtype.name in NARROW_INTEGERS and not reduces_or_divides
        else Dtype("float64", DtypeSource.NUMPY)
    )


DIVISIONS: Final = frozenset({"divide", "true_divide", "__truediv__", "__rtruediv__"})
"""The last names of NumPy's division functions and operators."""


def _to_sum(dtype: Dtype) -> Dtype:
    """Return the dtype of a NumPy sum of elements of a dtype: 64 bits wide for bool and integers, else unchanged."""
    if dtype.name is None or promotion_category(dtype.name) >= 2:
        return dtype
    return Dtype("uint64" if dtype.name.startswith("uint") else "int64", DtypeSource.NUMPY)
