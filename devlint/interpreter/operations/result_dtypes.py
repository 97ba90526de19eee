"""The dtype of what an operation returns, by its row's rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Final

from devlint.domain.dtype import (
    UNKNOWN_DTYPE,
    Dtype,
    DtypeSource,
    canonical_dtype_name,
    promote_tensor_dtypes,
    promotion_category,
)
from devlint.domain.value import NONE, Rank, Value
from devlint.interpreter.operations.data_dtypes import python_kind
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.operations.row_conditions import is_passed, select_by_condition
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

LIKE_OPERANDS: Final = frozenset("other min max exponent self input x y end".split())
"""Parameters for which a Python number takes part in the promotion, as a tensor would."""

MAX_UNDECIDED: Final = 3
"""Operands of unknown rank for which both possibilities are tried; an operation rarely has more."""


def first_result_dtype(frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand]) -> Dtype:
    """The dtype of the tensor that comes out, or of the first where several do."""
    return next(iter(result_dtypes(frame, row, bound, operands)), UNKNOWN_DTYPE)


def result_dtypes(frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand]) -> tuple[Dtype, ...]:
    """The dtypes of the tensors that come out, as far as the row has rules for them."""
    stated = select_by_condition(bound, row.dtype_if, row.dtype) or "unknown"
    rules = (stated,) if isinstance(stated, str) else stated
    return tuple(_by_rule(frame, rule, bound, operands) for rule in rules)


def _by_rule(frame: Frame, rule: str, bound: BoundArguments, operands: Sequence[Operand]) -> Dtype:
    if is_passed(bound, "dtype"):
        return requested_dtype(bound["dtype"][0].value)
    kind, _, argument = rule.partition(":")
    default = frame.state.torch_state.default_dtype
    match kind:
        case "kwarg":
            return default if argument == "default" else Dtype(canonical_dtype_name(argument), DtypeSource.DEFAULT)
        case "arg":
            return requested_dtype(bound[argument][0].value) if bound.get(argument) else UNKNOWN_DTYPE
        case "same" | "kwarg-or":
            return next((one.tensor.dtype for one in operands_named(operands, argument)), UNKNOWN_DTYPE)
        case "literal":
            return _of_literal(bound, argument.split(","), default)
    base, everything = kind.removesuffix("-all"), kind.endswith("-all")
    convert = _CONVERSIONS.get(base)
    if convert is None and base != "promote":
        return Dtype(canonical_dtype_name(rule))
    taking_part = list(operands_named(operands, argument)) if argument else operands
    numbers = {} if argument else bound
    dtype = _promoted(numbers, taking_part, default, everything=everything) if taking_part or numbers else UNKNOWN_DTYPE
    return dtype if convert is None or dtype.name is None else convert(dtype, default)


def operands_named(operands: Sequence[Operand], names: str) -> Iterator[Operand]:
    """The operands that a rule names (`same:a,b`), in the rule's order."""
    for name in names.split(","):
        yield from (one for one in operands if one.name == name)


def _of_literal(bound: BoundArguments, names: Iterable[str], default: Dtype) -> Dtype:
    """The dtype a factory takes from the Python numbers it is given (`torch.full`, `torch.arange`)."""
    kinds = {python_kind(argument.value) for name in names for argument in bound.get(name, ())}
    if None in kinds or not kinds:
        return UNKNOWN_DTYPE
    if "complex" in kinds:
        return complex_of(default)
    if "float" in kinds:
        return default
    return Dtype("int64" if "int" in kinds else "bool", DtypeSource.DEFAULT)


# Promotion


def _promoted(bound: BoundArguments, operands: Sequence[Operand], default: Dtype, *, everything: bool) -> Dtype:
    """Torch's promotion: the highest among the dimensioned tensors; a 0-dim one or a number counts only by category,
    but where 0-dim tensors count in full."""
    if any(one.tensor.dtype.name is None for one in operands):
        return UNKNOWN_DTYPE
    numbers = _numbers(bound, {one.name for one in operands})
    ranks = [_possible(one.tensor.rank) if not everything else (Rank.SOME,) for one in operands]
    if sum(len(one) > 1 for one in ranks) > MAX_UNDECIDED:
        return UNKNOWN_DTYPE
    results = [_promote_ranked(operands, tried, numbers, default) for tried in product(*ranks)]
    return results[0] if len({one.name for one in results}) == 1 else UNKNOWN_DTYPE


def _possible(rank: Rank) -> tuple[Rank, ...]:
    return (Rank.ZERO, Rank.SOME) if rank is Rank.ANY else (rank,)


def _numbers(bound: BoundArguments, tensors: set[str]) -> list[Value]:
    """The arguments that are no tensors, where a tensor could stand."""
    return [
        argument.value
        for name, arguments in bound.items()
        if name in LIKE_OPERANDS and name not in tensors
        for argument in arguments
        if argument.value != NONE
    ]


def _promote_ranked(
    operands: Sequence[Operand], ranks: Sequence[Rank], numbers: Sequence[Value], default: Dtype
) -> Dtype:
    large = [one.tensor.dtype for one, rank in zip(operands, ranks, strict=True) if rank.is_dimensioned]
    small = [one.tensor.dtype for one, rank in zip(operands, ranks, strict=True) if rank is Rank.ZERO]
    result: Dtype | None = None
    for dtype in _highest(large), _highest(small), *(_of_number(one, default) for one in numbers):
        if dtype is None:
            continue
        if dtype.name is None:
            # A number of unknown kind is at most a float (complex ones are written out): floats stay as they are.
            if result is None or result.name is None or promotion_category(result.name) < 2:
                return UNKNOWN_DTYPE
        elif result is None:
            result = dtype
        elif result.name is not None and promotion_category(dtype.name) > promotion_category(result.name):
            result = (
                complex_of(result)
                if promotion_category(dtype.name) == 3 and promotion_category(result.name) == 2
                else dtype
            )
    return result or UNKNOWN_DTYPE


def _highest(dtypes: Sequence[Dtype]) -> Dtype | None:
    if not dtypes:
        return None
    result = dtypes[0]
    for dtype in dtypes[1:]:
        name = (
            promote_tensor_dtypes(result.name, dtype.name)
            if result.name is not None and dtype.name is not None
            else None
        )
        result = result if name == result.name else dtype if name == dtype.name else Dtype(name)
    return result


def _of_number(value: Value, default: Dtype) -> Dtype:
    match python_kind(value):
        case "bool":
            return Dtype("bool", DtypeSource.PYTHON)
        case "int":
            return Dtype("int64", DtypeSource.PYTHON)
        case "float":
            return default
        case "complex":
            return complex_of(default)
    return UNKNOWN_DTYPE


# Conversions of what was promoted


def _floating(dtype: Dtype, default: Dtype) -> Dtype:
    return default if dtype.name is not None and promotion_category(dtype.name) < 2 else dtype


def _summed(dtype: Dtype, default: Dtype) -> Dtype:
    return Dtype("int64") if dtype.name is not None and promotion_category(dtype.name) < 2 else dtype


def _counted(dtype: Dtype, default: Dtype) -> Dtype:
    return Dtype("int64") if dtype.name == "bool" else dtype


def real_part(dtype: Dtype) -> Dtype:
    """The dtype of the real and the imaginary part."""
    return Dtype(_PARTS[dtype.name]) if dtype.name in _PARTS else dtype


def complex_of(dtype: Dtype) -> Dtype:
    """The complex dtype with parts of a floating one; a complex one itself."""
    if dtype.name is None or promotion_category(dtype.name) == 3:
        return dtype
    return Dtype(next((whole for whole, part in _PARTS.items() if part == dtype.name), None))


def _doubled(dtype: Dtype, default: Dtype) -> Dtype:
    return Dtype("complex128" if dtype.name is not None and promotion_category(dtype.name) == 3 else "float64")


_PARTS: Final[dict[str | None, str]] = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
_CONVERSIONS: Final[dict[str, Callable[[Dtype, Dtype], Dtype]]] = {
    "float": _floating,
    "sum": _summed,
    "pow": _counted,
    "real": lambda dtype, default: real_part(dtype),
    "real-float": lambda dtype, default: _floating(real_part(dtype), default),
    "complex": lambda dtype, default: complex_of(_floating(dtype, default)),
    "double": _doubled,
}
