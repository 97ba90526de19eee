"""What a program writes for a dtype: `torch.float16`, `np.int64`, `float`, and `"float32"` to NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, DtypeSource, canonical_dtype_name
from devlint.domain.value import NONE, ConditionalValue, Const, DtypeValue, LibraryName, Unknown, Value
from devlint.interpreter.program.definitions import FunctionInfo

_OF_PYTHON: Final = {
    "builtins.bool": "bool",
    "builtins.int": "int64",
    "builtins.float": "float64",
    "builtins.complex": "complex128",
}
"""Python's types as dtypes, the same to torch as to NumPy."""


def is_dtype_argument(value: Value) -> bool:
    """Whether an argument is a dtype: one that is known, or one that is called or annotated so."""
    match value:
        case DtypeValue():
            return True
        case Unknown(origin=("attr", _, str(name))):
            return name.endswith("dtype")
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            said = info.annotated(name)
            return "dtype" in said or (not said and name.endswith("dtype"))
        case ConditionalValue(yes=yes, no=no):
            return all(is_dtype_argument(one) or one == NONE for one in (yes, no))
    return False


def requested_dtype(value: Value) -> Dtype:
    """The dtype that an argument names; unknown when it names none."""
    match value:
        case DtypeValue(dtype=dtype):
            return replace(dtype, source=DtypeSource.EXPLICIT)
        case Const(value=str(text)):
            return Dtype(canonical_dtype_name(text), DtypeSource.EXPLICIT)
        case LibraryName(name=name):
            return Dtype(_OF_PYTHON.get(name), DtypeSource.EXPLICIT)
    return UNKNOWN_DTYPE
