"""Dtype arguments: `torch.float16`, `np.int64`, `float`, and the string `"float32"` for NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, canonical_dtype_name
from devlint.domain.value import NONE, ConditionalValue, Const, DtypeValue, LibraryName, Unknown, Value
from devlint.interpreter.program.definitions import FunctionInfo

_PYTHON_TYPE_DTYPES: Final = {
    "builtins.bool": "bool",
    "builtins.int": "int64",
    "builtins.float": "float64",
    "builtins.complex": "complex128",
}
"""The dtypes that Python's number types name, to torch as to NumPy."""


def is_dtype_argument(value: Value) -> bool:
    """Return whether an argument is a dtype: a known one, or an unknown value called or annotated as a dtype."""
    match value:
        case DtypeValue():
            return True
        case Unknown(origin=("attr", _, str(name))):
            return name.endswith("dtype")
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            annotation = info.annotation_last_names(name)
            return "dtype" in annotation or (not annotation and name.endswith("dtype"))
        case ConditionalValue(yes=yes, no=no):
            return all(is_dtype_argument(one) or one == NONE for one in (yes, no))
    return False


def is_called_dtype(node: cst.BaseExpression) -> bool:
    """Return whether an expression is a name or an attribute that is called a dtype, such as `x.dtype`."""
    match node:
        case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
            return name.endswith("dtype")
    return False


def requested_dtype(value: Value) -> Dtype:
    """Return the dtype that an argument names; unknown when it names none."""
    match value:
        case DtypeValue(dtype=dtype):
            return replace(dtype, source=DtypeSource.EXPLICIT)
        case Const(value=str(text)):
            return Dtype(canonical_dtype_name(text), DtypeSource.EXPLICIT)
        case LibraryName(name=name):
            return Dtype(_PYTHON_TYPE_DTYPES.get(name), DtypeSource.EXPLICIT)
    return UNKNOWN_DTYPE
