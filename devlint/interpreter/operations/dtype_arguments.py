"""What a program writes for a dtype: `torch.float16`, `np.int64`, `float`, and `"float32"` to NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, Source, canonical
from devlint.domain.value import NONE, Const, DtypeValue, Either, Library, Unknown, Value
from devlint.interpreter.program.definitions import FunctionInfo

_OF_PYTHON: Final = {
    "builtins.bool": "bool",
    "builtins.int": "int64",
    "builtins.float": "float64",
    "builtins.complex": "complex128",
}
"""Python's types as dtypes, the same to torch as to NumPy."""


def names_dtype(value: Value) -> bool:
    """Whether an argument is a dtype: one that is known, or one that is called or annotated so."""
    match value:
        case DtypeValue():
            return True
        case Unknown(origin=("attr", _, str(name))):
            return name.endswith("dtype")
        case Unknown(origin=("param", FunctionInfo() as info, str(name))):
            said = info.annotated(name)
            return "dtype" in said or (not said and name.endswith("dtype"))
        case Either(yes=yes, no=no):
            return all(names_dtype(one) or one == NONE for one in (yes, no))
    return False


def dtype_named(value: Value) -> Dtype:
    """The dtype that an argument names; unknown when it names none."""
    match value:
        case DtypeValue(dtype=dtype):
            return replace(dtype, source=Source.EXPLICIT)
        case Const(value=str(text)):
            return Dtype(canonical(text), Source.EXPLICIT)
        case Library(name=name):
            return Dtype(_OF_PYTHON.get(name), Source.EXPLICIT)
    return UNKNOWN_DTYPE
