"""Dtype arguments: `torch.float16`, `np.int64`, `float`, and the string `"float32"` for NumPy."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, canonical_dtype_name
from devlint.domain.record import replace
from devlint.domain.value import NONE, ConditionalValue, Const, DtypeValue, LibraryName, Unknown, Value, named_dtype
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.syntax.tree_walk import dotted_name

_PYTHON_TYPE_DTYPES: Final = {
    "builtins.bool": "bool",
    "builtins.int": "int64",
    "builtins.float": "float64",
    "builtins.complex": "complex128",
}
"""The dtypes that Python's number types name, to torch as to NumPy."""

_NUMPY_TEXTS: Final = {
    "int": "int64",
    "float": "float64",
    "complex": "complex128",
    "f": "float32",
    "d": "float64",
    "i": "int32",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "i2": "int16",
    "i4": "int32",
    "i8": "int64",
    "l": "int64",
    "i1": "int8",
    "u1": "uint8",
    "b": "int8",
    "B": "uint8",
    "?": "bool",
}
"""What NumPy's texts mean that torch names otherwise or not at all: `"int"` is Python's integer, not C's."""


def is_dtype_argument(value: Value) -> bool:
    """Return whether an argument is a dtype: a known one, or an unknown value called or annotated as a dtype."""
    match value:
        case DtypeValue():
            return True
        case LibraryName(name=name):
            return name in _PYTHON_TYPE_DTYPES
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
            text = text.lstrip("<=|")
            return Dtype(_NUMPY_TEXTS.get(text) or canonical_dtype_name(text), DtypeSource.EXPLICIT)
        case LibraryName(name=name):
            return Dtype(_PYTHON_TYPE_DTYPES.get(name), DtypeSource.EXPLICIT)
        case Unknown(origin=origin, text=text, cast=cast) if is_dtype_argument(value) and not _may_be_none(origin):
            return replace(cast or named_dtype(origin, text), source=DtypeSource.EXPLICIT)
    return UNKNOWN_DTYPE


def _may_be_none(origin: Hashable) -> bool:
    """Return whether an unknown value is a parameter whose default is None, which stands for no dtype."""
    match origin:
        case ("param", FunctionInfo() as info, str(name)):
            default = next((one.default for one in info.parameters if one.name == name), None)
            return default is not None and dotted_name(default) == "None"
    return False
