"""Element types, how they are known, and how they promote."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from devlint.domain.placement import Step


class DtypeSource(Enum):
    """Where a dtype comes from; it decides how a finding speaks of it."""

    EXPLICIT = "written out"
    DEFAULT = "torch's default"
    NUMPY = "NumPy's default"
    PYTHON = "Python floats"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True)
class Dtype:
    """An element type by torch's name; `name` None is unknown. `provenance` tells where it came from."""

    name: str | None = None
    source: DtypeSource = DtypeSource.COMPUTED
    provenance: Step | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name or "unknown"


UNKNOWN_DTYPE: Final = Dtype()
DEFAULT_FLOAT: Final = Dtype("float32", DtypeSource.DEFAULT)
"""What torch makes of Python floats and factories without a dtype, unless the program sets another default."""

ALIASES: Final = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "bool_": "bool",
    "float_": "float64",
    "int_": "int64",
    "single": "float32",
    "intp": "int64",
}
FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
INTEGERS: Final = ("uint8", "int8", "int16", "int32", "int64")
COMPLEX: Final = ("complex32", "complex64", "complex128")
_WHOLE: Final = {"bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}
NAMES: Final = frozenset(("bool", *FLOATS, *INTEGERS, *COMPLEX, "uint16", "uint32", "uint64"))


def canonical_dtype_name(name: str) -> str | None:
    """The one name of a dtype (`long` is `int64`); None when it is no dtype."""
    name = ALIASES.get(name, name)
    return name if name in NAMES else None


def promotion_category(name: str) -> int:
    """Torch's promotion category: bool 0, integral 1, floating 2, complex 3 (c10/core/ScalarType)."""
    if name == "bool":
        return 0
    if name.startswith("complex"):
        return 3
    return 2 if "float" in name else 1


def python_type_of(dtype: Dtype) -> str | None:
    """The Python type of one element, as `.item()` returns it; None when it is not known."""
    return None if dtype.name is None else ("bool", "int", "float", "complex")[promotion_category(dtype.name)]


def is_floating(name: str | None) -> bool:
    """Whether it is a real floating type."""
    return name is not None and promotion_category(name) == 2


def promote_array_dtypes(left: str, right: str) -> str | None:
    """The dtype of two NumPy arrays combined: it holds every value of both, so int32 and float32 make float64. None
    for a dtype that NumPy does not have."""
    if left == right:
        return left
    low, high = sorted((left, right), key=lambda name: (promotion_category(name), name.startswith("uint"), _bits(name)))
    if promotion_category(low) == 0:
        return high
    match promotion_category(low), promotion_category(high):
        case (1, 1):
            return _promote_integers(low, high)
        case (1 | 2, 2):
            bits = max(_bits(high), _bits(low) if promotion_category(low) == 2 else min(2 * _bits(low), 64))
            return None if "bfloat16" in (low, high) else f"float{bits}"
        case (1 | 2 | 3, 3):
            part = promote_array_dtypes(
                f"float{_bits(low) // 2}" if promotion_category(low) == 3 else low, f"float{_bits(high) // 2}"
            )
            return f"complex{2 * _bits(part)}" if part is not None else None
    return None


def _promote_integers(signed: str, other: str) -> str:
    if signed.startswith("uint") == other.startswith("uint"):
        return max(signed, other, key=_bits)
    bits = max(_bits(signed), 2 * _bits(other))
    return f"int{bits}" if bits <= 64 else "float64"


def _bits(name: str) -> int:
    return int("".join(filter(str.isdigit, name)) or 8)


def promote_tensor_dtypes(left: str, right: str) -> str | None:
    """The dtype of two dimensioned tensors combined (torch.promote_types), None where devlint does not know."""
    if left == right:
        return left
    low, high = sorted((left, right), key=promotion_category)
    if promotion_category(low) < promotion_category(high):
        return max(high, _WHOLE.get(low, high), key=COMPLEX.index) if promotion_category(high) == 3 else high
    order = {2: FLOATS, 1: INTEGERS, 3: COMPLEX}.get(promotion_category(low), ())
    if low not in order or high not in order:
        return None
    if {low, high} == {"float16", "bfloat16"}:
        return "float32"
    if {low, high} == {"uint8", "int8"}:
        return "int16"
    return max(low, high, key=order.index)
