"""Element types of tensors and arrays: their names, how each was decided, and which dtype two of them promote to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import field
from enum import Enum
from typing import Final, NamedTuple

from devlint.domain.path_conditions import Literal
from devlint.domain.placement import Step
from devlint.domain.record import record, replace


class DtypeSource(Enum):
    """How a dtype was decided: written out in the program, a default, or computed.

    The source decides how findings about the dtype are worded.
    """

    EXPLICIT = "written out"
    DEFAULT = "torch's default"
    NUMPY = "NumPy's default"
    PYTHON = "Python floats"
    COMPUTED = "computed"


@record(frozen=True, slots=True)
class DtypeSymbol:
    """A name for the unknown dtype of an object that the caller chooses, such as a function's argument or a module.

    Equal symbols are equal dtypes. `origin` identifies the object whose dtype it is; `text` names that object.
    `category` is the promotion category that the dtype has at least: a dtype of the object that is below it stands for
    the default dtype of the category, as `x + 0.5` has where `x` holds integers. `promoted` is true where an operation
    has raised the category.
    """

    origin: Hashable
    text: str = field(compare=False)
    category: int = 0
    promoted: bool = field(default=False, compare=False)

    @property
    def is_computed(self) -> bool:
        """Whether the symbol stands for what an operation makes of other dtypes, and not for that of one object."""
        return self.promoted or isinstance(self.origin, _Computed)


class _Computed(NamedTuple):
    """The origin of a dtype that an operation makes of others.

    `sources` are the origins of these, or their names. `place` tells apart operations that may make different dtypes of
    them, since the ranks of the operands decide too; None where ranks do not matter.
    """

    operation: Hashable
    sources: frozenset[Hashable]
    place: Hashable = None


@record(frozen=True, slots=True)
class Dtype:
    """The element type of a tensor or array under torch's name (`float32`); `name` is None when it is unknown.

    `source` tells whether the dtype was written out, is a default or was computed; `provenance` is the step (the
    recorded occurrence in the program) that set the dtype. A dtype that no cast or conversion set has none. `made` is
    the step that made a tensor of it, or gave it to a tensor. A dtype without a name may have a `symbol`: it is then
    known to equal other dtypes with that symbol. `cases` are the dtypes of a tensor that two paths have given different
    ones, each with its condition; a dtype with cases counts as unknown but where a case alone makes an operation fail.
    """

    name: str | None = None
    source: DtypeSource = DtypeSource.COMPUTED
    provenance: Step | None = field(default=None, compare=False)
    symbol: DtypeSymbol | None = None
    made: Step | None = field(default=None, compare=False)
    cases: tuple[tuple[Literal, Dtype], ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return self.name or "unknown"

    @property
    def is_known(self) -> bool:
        """Whether the dtype is known by name, or as that of something else."""
        return self.name is not None or self.symbol is not None


UNKNOWN_DTYPE: Final = Dtype()
"""The dtype of which nothing is known."""
DEFAULT_FLOAT: Final = Dtype("float32", DtypeSource.DEFAULT)
"""The dtype of tensors made of Python floats, and by factories without `dtype=`, under torch's own default."""


def dtype_by_case(cases: Iterable[tuple[Literal, Dtype]]) -> Dtype:
    """Return the dtype that depends on conditions: each case is a floating dtype or a symbol where its condition holds.

    It is unknown where a case is anything else, and the one dtype where all cases are equal.
    """
    found = tuple(cases)
    first = found[0][1]
    if all(equals_surely(first, dtype) for _, dtype in found):
        return first
    return Dtype(cases=found) if all(one.symbol or one.name in _FLOATING for _, one in found) else UNKNOWN_DTYPE


MAX_SOURCES: Final = 8
"""The largest number of dtypes of which a promotion is followed by a symbol."""

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
"""Other names of dtypes in torch and NumPy, each with torch's canonical name."""
FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
"""The real floating dtypes, in the order in which they promote."""
_FLOATING: Final = frozenset(FLOATS)
INTEGERS: Final = ("uint8", "int8", "int16", "int32", "int64")
"""The integer dtypes that promote among each other, in order."""
COMPLEX: Final = ("complex32", "complex64", "complex128")
"""The complex dtypes, in the order in which they promote."""
_COMPLEX_FOR_FLOAT: Final = {"bfloat16": "complex64", "float32": "complex64", "float64": "complex128"}
"""The smallest complex dtype that holds every value of a real floating dtype; float16 fits into all."""
NAMES: Final = frozenset(("bool", *FLOATS, *INTEGERS, *COMPLEX, "uint16", "uint32", "uint64"))
"""The canonical names of all dtypes that devlint knows."""


def canonical_dtype_name(name: str) -> str | None:
    """Return the canonical name of a dtype (`int64` for `long`); None when the name is no dtype."""
    name = ALIASES.get(name, name)
    return name if name in NAMES else None


CATEGORY_NAMES: Final = ("bool", "int", "float", "complex")
"""The Python types of the promotion categories, by their numbers."""


def item_size(name: str) -> int:
    """Return the number of bytes that an element of a dtype takes: 4 for `float32`."""
    bits = "".join(filter(str.isdigit, name.removeprefix("b")))
    return int(bits) // 8 if bits else 1


def promotion_category(name: str) -> int:
    """Return torch's promotion category of a dtype: bool 0, integral 1, floating 2, complex 3 (c10/core/ScalarType)."""
    if name == "bool":
        return 0
    if name.startswith("complex"):
        return 3
    return 2 if "float" in name else 1


def is_countable(dtype: Dtype) -> bool:
    """Return whether a dtype is known to be bool or integral: autograd never follows tensors of such dtypes."""
    return dtype.name is not None and promotion_category(dtype.name) < 2


def equals_surely(left: Dtype, right: Dtype) -> bool:
    """Return whether two dtypes are known to be equal: by their name, or by their symbol."""
    return left.is_known and left.name == right.name and left.symbol == right.symbol


def with_category(dtype: Dtype, category: int) -> Dtype:
    """Return a symbolic dtype promoted to a category: the dtype where it is of that category or above."""
    if dtype.symbol is None or dtype.symbol.category >= category:
        return dtype
    return replace(dtype, symbol=replace(dtype.symbol, category=category, promoted=True))


def promoted_symbol(dtypes: Iterable[Dtype], place: Hashable = None) -> Dtype:
    """Return the dtype to which several known dtypes promote, some of them symbols, as a symbol of its own.

    `place` tells apart promotions that also depend on something else. The result is unknown for too many dtypes.
    """
    sources: dict[Hashable, str] = {}
    category = 0
    for one in dtypes:
        if one.symbol is None:
            assert one.name is not None
            sources[one.name] = one.name
            category = max(category, promotion_category(one.name))
            continue
        category = max(category, one.symbol.category)
        match one.symbol.origin:
            case _Computed("promotion", parts, earlier) if not one.symbol.promoted:
                sources |= dict.fromkeys(parts if earlier is None else {*parts, earlier}, one.symbol.text)
            case origin:
                sources[(origin, one.symbol.category) if one.symbol.promoted else origin] = one.symbol.text
    if len(sources) > MAX_SOURCES:
        return UNKNOWN_DTYPE
    text = " and ".join(dict.fromkeys(sources.values()))
    return Dtype(symbol=DtypeSymbol(_Computed("promotion", frozenset(sources), place), text, category))


def converted_symbol(dtype: Dtype, operation: Hashable, category: int, beside: str = "") -> Dtype:
    """Return the dtype, of a category at least, that an operation such as a sum makes of a symbolic dtype.

    `beside` names what takes part in the operation otherwise.
    """
    symbol = dtype.symbol
    assert symbol is not None
    origin, text = symbol.origin, symbol.text
    if not (isinstance(origin, _Computed) and origin.operation == operation):
        origin = _Computed(operation, frozenset({(origin, symbol.category) if symbol.promoted else origin}))
        text = f"{text} and {beside}" if beside else text
    return with_category(Dtype(symbol=replace(symbol, origin=origin, text=text)), category)


def python_type_of(dtype: Dtype) -> str | None:
    """Return the Python type that `.item()` returns for a dtype; None when the dtype is unknown."""
    return None if dtype.name is None else CATEGORY_NAMES[promotion_category(dtype.name)]


def is_floating(name: str | None) -> bool:
    """Return whether a dtype name is a real (not complex) floating-point type; false when the name is None."""
    return name is not None and promotion_category(name) == 2


def promote_array_dtypes(left: str, right: str) -> str | None:
    """Return the dtype that NumPy gives to an operation on arrays of two dtypes; None if NumPy lacks one of the dtypes.

    The resulting dtype holds every value of both operands' dtypes, so int32 and float32 make float64.
    """
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
    """Return the NumPy dtype that holds every value of two integer dtypes; float64 when no integer dtype does."""
    if signed.startswith("uint") == other.startswith("uint"):
        return max(signed, other, key=_bits)
    bits = max(_bits(signed), 2 * _bits(other))
    return f"int{bits}" if bits <= 64 else "float64"


def _bits(name: str) -> int:
    """Return the number of bits in a dtype's name (32 for `float32`); 8 for a name without a number."""
    return int("".join(filter(str.isdigit, name)) or 8)


def promote_tensor_dtypes(left: str, right: str) -> str | None:
    """Return the dtype that torch.promote_types gives for two dtypes; None if devlint does not know it.

    It holds for an operation on two tensors that both have at least one dimension; 0-dim tensors promote by other
    rules.
    """
    if left == right:
        return left
    low, high = sorted((left, right), key=promotion_category)
    if promotion_category(low) < promotion_category(high):
        return (
            max(high, _COMPLEX_FOR_FLOAT.get(low, high), key=COMPLEX.index) if promotion_category(high) == 3 else high
        )
    order = {2: FLOATS, 1: INTEGERS, 3: COMPLEX}.get(promotion_category(low), ())
    if low not in order or high not in order:
        return None
    if {low, high} == {"float16", "bfloat16"}:
        return "float32"
    if {low, high} == {"uint8", "int8"}:
        return "int16"
    return max(low, high, key=order.index)
