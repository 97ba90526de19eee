"""What a program writes for a dtype: `torch.float16`, `np.int64`, `float`, and `"float32"` to NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from devlint.values.dtype import UNKNOWN_DTYPE, Dtype, Source, canonical
from devlint.values.value import Const, DtypeValue, Library, Value

_OF_PYTHON: Final = {
    "builtins.bool": "bool",
    "builtins.int": "int64",
    "builtins.float": "float64",
    "builtins.complex": "complex128",
}
"""Python's types as dtypes, the same to torch as to NumPy."""


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
