"""Dtypes of the tensors that an operation returns, by the dtype rules of its row of devlint's semantics table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Final

from devlint.domain.dtype import (
    UNKNOWN_DTYPE,
    Dtype,
    DtypeSource,
    canonical_dtype_name,
    converted_symbol,
    dtype_by_case,
    is_countable,
    promote_tensor_dtypes,
    promoted_symbol,
    promotion_category,
    with_category,
)
from devlint.domain.path_conditions import Literal
from devlint.domain.placement import Place
from devlint.domain.record import replace
from devlint.domain.value import NONE, Number, Rank, Value
from devlint.interpreter.operations.data_dtypes import python_kind
from devlint.interpreter.operations.dtype_arguments import requested_dtype
from devlint.interpreter.operations.equal_dtypes import canonical_dtype
from devlint.interpreter.operations.row_conditions import is_passed, select_by_condition
from devlint.interpreter.operations.tensor_ranks import is_promoting_summation
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

OPERAND_PARAMETERS: Final = frozenset("other min max exponent self input x y end".split())
"""Parameters for which a Python number takes part in type promotion, as a tensor would."""

MAX_UNDECIDED: Final = 3
"""The largest number of operands of unknown rank for which both ranks are tried; an operation rarely has more."""


def first_result_dtype(frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand]) -> Dtype:
    """Return the dtype of the tensor that an operation returns, or of the first of several."""
    return next(iter(result_dtypes(frame, row, bound, operands)), UNKNOWN_DTYPE)


def result_dtypes(frame: Frame, row: Row, bound: BoundArguments, operands: Sequence[Operand]) -> tuple[Dtype, ...]:
    """Return the dtypes of the tensors that an operation returns, by the dtype rules of its semantics table row."""
    stated = select_by_condition(bound, row.dtype_if, row.dtype) or "unknown"
    rules = (stated,) if isinstance(stated, str) else stated
    cases = cases_of_operands(operands)
    if not cases:
        return tuple(_dtype_by_rule(frame, rule, bound, operands) for rule in rules)
    return tuple(
        dtype_by_case((test, _dtype_by_rule(frame, rule, bound, one)) for test, one in cases) for rule in rules
    )


def cases_of_operands(operands: Sequence[Operand]) -> list[tuple[Literal, Sequence[Operand]]]:
    """Return the operands as they are in each case of the one dtype that depends on a condition; none without such."""
    depending = [one for one in operands if one.tensor.dtype.cases]
    if len({tuple(test for test, _ in one.tensor.dtype.cases) for one in depending}) != 1:
        return []
    return [
        (test, [_in_case(one, number) if one.tensor.dtype.cases else one for one in operands])
        for number, (test, _) in enumerate(depending[0].tensor.dtype.cases)
    ]


def _in_case(operand: Operand, number: int) -> Operand:
    """Return an operand with the dtype that it has in one of its cases."""
    return _with_dtype(operand, operand.tensor.dtype.cases[number][1])


def _with_dtype(operand: Operand, dtype: Dtype) -> Operand:
    """Return an operand with another dtype."""
    return replace(operand, tensor=replace(operand.tensor, dtype=dtype))


def _dtype_by_rule(frame: Frame, rule: str, bound: BoundArguments, operands: Sequence[Operand]) -> Dtype:
    """Return an operation's result dtype by one dtype rule of its semantics table row, such as `same:input`.

    A `dtype=` argument of the call overrides the rule.
    """
    if is_passed(bound, "dtype"):
        return requested_dtype(bound["dtype"][0].value)
    kind, _, argument = ("promote:operands" if is_promoting_summation(bound) else rule).partition(":")
    default = frame.state.torch_state.default_dtype
    match kind:
        case "kwarg":
            return default if argument == "default" else Dtype(canonical_dtype_name(argument), DtypeSource.DEFAULT)
        case "arg":
            return requested_dtype(bound[argument][0].value) if bound.get(argument) else UNKNOWN_DTYPE
        case "same" | "kwarg-or":
            return next((one.tensor.dtype for one in operands_named(operands, argument)), UNKNOWN_DTYPE)
        case "literal":
            return _literal_dtype(bound, argument.split(","), default)
    base, everything = kind.removesuffix("-all"), kind.endswith("-all")
    convert = _CONVERSIONS.get(base)
    if convert is None and base != "promote":
        return Dtype(canonical_dtype_name(rule))
    taking_part = list(operands_named(operands, argument)) if argument else operands
    numbers = {} if argument else bound
    dtype = (
        _promoted_dtype(frame, numbers, taking_part, default, everything=everything)
        if taking_part or numbers
        else UNKNOWN_DTYPE
    )
    if dtype.symbol is not None:
        return _converted_symbol(base, dtype)
    return dtype if convert is None or dtype.name is None else convert(dtype, default)


def operands_named(operands: Sequence[Operand], names: str) -> Iterator[Operand]:
    """Yield the operands that a rule of the semantics table names (as in `same:a,b`), in the order of the rule."""
    for name in names.split(","):
        yield from (one for one in operands if one.name == name)


def _literal_dtype(bound: BoundArguments, names: Iterable[str], default: Dtype) -> Dtype:
    """Return the dtype that a factory takes from the Python numbers it is given (`torch.full`, `torch.arange`)."""
    kinds = {python_kind(argument.value) for name in names for argument in bound.get(name, ())}
    if None in kinds or not kinds:
        return UNKNOWN_DTYPE
    if "complex" in kinds:
        return complex_of(default)
    if "float" in kinds:
        return default
    return Dtype("int64" if "int" in kinds else "bool", DtypeSource.DEFAULT)


# Promotion


def _promoted_dtype(
    frame: Frame, bound: BoundArguments, operands: Sequence[Operand], default: Dtype, *, everything: bool
) -> Dtype:
    """Return the dtype to which torch promotes operands and numbers; unknown unless all possible ranks agree.

    The highest dtype among the dimensioned tensors counts; a 0-dim tensor or a number counts only if its category
    (integer, float, complex) is higher. With `everything`, 0-dim tensors count in full. Beside an operand of unknown
    dtype a dimensioned float64 tensor counts: only complex numbers are wider, and programs write those out.
    """
    numbers = _number_arguments(bound, {one.name for one in operands})
    if any(one.tensor.dtype.name is None for one in operands):
        dimensioned = (one.tensor.dtype for one in operands if one.tensor.rank.is_dimensioned)
        double = next((dtype for dtype in dimensioned if dtype.name == "float64"), UNKNOWN_DTYPE)
        if double.is_known or any(not one.tensor.dtype.is_known for one in operands):
            return double
        operands = [_with_dtype(one, canonical_dtype(frame, one.tensor.dtype)) for one in operands]
        if any(one.tensor.dtype.symbol is not None for one in operands):
            place = None if everything or _are_ranks_alike(operands) else operands[0].place
            return _promoted_symbol([one.tensor.dtype for one in operands], numbers, place)
    ranks = [_possible_ranks(one.tensor.rank) if not everything else (Rank.SOME,) for one in operands]
    if sum(len(one) > 1 for one in ranks) > MAX_UNDECIDED:
        return UNKNOWN_DTYPE
    results = [_promote_ranked(operands, tried, numbers, default) for tried in product(*ranks)]
    return results[0] if len({one.name for one in results}) == 1 else UNKNOWN_DTYPE


def _are_ranks_alike(operands: Sequence[Operand]) -> bool:
    """Return whether all operands have at least one dimension, or none has any: each counts in a promotion then."""
    ranks = [one.tensor.rank for one in operands]
    return all(rank.is_dimensioned for rank in ranks) or all(rank is Rank.ZERO for rank in ranks)


def _promoted_symbol(dtypes: Sequence[Dtype], numbers: Sequence[Value], place: Place | None) -> Dtype:
    """Return the promotion of tensors of symbolic dtypes, and of the named dtypes and numbers beside them.

    It is a symbol of its own where something may be wider than the one symbol: another symbol, or a name of a category
    that the symbol may be below or that promotes within the category. `place` tells it apart from other promotions of
    the same dtypes where the ranks of the operands decide as well.
    """
    symbolic = list({one.symbol.origin: one for one in dtypes if one.symbol is not None}.values())
    least = max(one.symbol.category for one in dtypes if one.symbol is not None)
    wider = [
        one for one in dtypes if one.name is not None and one.name != "bool" and promotion_category(one.name) >= least
    ]
    alone = len(symbolic) == 1 and not wider
    result = symbolic[0] if alone else promoted_symbol([*symbolic, *wider], place)
    if result.symbol is None:
        return UNKNOWN_DTYPE
    least = max(least, result.symbol.category)
    for number in numbers:
        kind = python_kind(number)
        if kind is None and least < 2 and isinstance(number, Number) and number.origin is not None:
            # A number of unknown type raises the dtype, or does not, wherever it meets it.
            result = converted_symbol(result, ("number", number.origin), least, number.text)
        elif kind == "complex" or (kind is None and least < 2):
            return UNKNOWN_DTYPE
        least = max(least, _NUMBER_CATEGORIES.get(kind or "", 0))
    return with_category(result, least)


_NUMBER_CATEGORIES: Final = {"bool": 0, "int": 1, "float": 2}
"""The promotion categories of Python's real numbers; a number of unknown type is at most a float."""


def _possible_ranks(rank: Rank) -> tuple[Rank, ...]:
    """Return the ranks that an operand may have: its rank, or both 0-dim and dimensioned when the rank is unknown."""
    return (Rank.ZERO, Rank.SOME) if rank is Rank.ANY else (rank,)


def _number_arguments(bound: BoundArguments, tensors: set[str]) -> list[Value]:
    """Return the arguments of a call that are not tensors, for parameters that take a tensor or a number."""
    return [
        argument.value
        for name, arguments in bound.items()
        if name in OPERAND_PARAMETERS and name not in tensors
        for argument in arguments
        if argument.value != NONE
    ]


def _promote_ranked(
    operands: Sequence[Operand], ranks: Sequence[Rank], numbers: Sequence[Value], default: Dtype
) -> Dtype:
    """Return torch's promotion of the dtypes of operands with given ranks and of the Python numbers beside them.

    Unknown if an unknown dtype or number could change the result.
    """
    large = [one.tensor.dtype for one, rank in zip(operands, ranks, strict=True) if rank.is_dimensioned]
    small = [one.tensor.dtype for one, rank in zip(operands, ranks, strict=True) if rank is Rank.ZERO]
    result: Dtype | None = None
    for dtype in _promote_dtypes(large), _promote_dtypes(small), *(_number_dtype(one, default) for one in numbers):
        if dtype is None:
            continue
        if dtype.name is None:
            # A number of unknown type is at most a float, since programs write complex numbers out: floats stay.
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


def _promote_dtypes(dtypes: Sequence[Dtype]) -> Dtype | None:
    """Return torch's promotion of the dtypes of tensors that are all 0-dim or all not 0-dim; None for no dtypes."""
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


def _number_dtype(value: Value, default: Dtype) -> Dtype:
    """Return the dtype of a Python number in type promotion; unknown for an unknown number."""
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


# Conversions of the promoted dtype


def _to_floating(dtype: Dtype, default: Dtype) -> Dtype:
    """Return the default dtype for bool and integers, any other dtype unchanged."""
    return default if is_countable(dtype) else dtype


def _to_sum(dtype: Dtype, default: Dtype) -> Dtype:
    """Return int64 for bool and integers, any other dtype unchanged, as sums do."""
    return Dtype("int64") if is_countable(dtype) else dtype


def _to_power(dtype: Dtype, default: Dtype) -> Dtype:
    """Return int64 for bool, any other dtype unchanged, as powers do."""
    return Dtype("int64") if dtype.name == "bool" else dtype


def real_part(dtype: Dtype) -> Dtype:
    """Return the dtype of the real and imaginary parts of a complex dtype; any other named dtype unchanged."""
    if dtype.symbol is not None:
        return UNKNOWN_DTYPE
    return Dtype(_PART_DTYPES[dtype.name]) if dtype.name in _PART_DTYPES else dtype


def complex_of(dtype: Dtype) -> Dtype:
    """Return the complex dtype whose parts have a floating dtype; a complex dtype unchanged."""
    if dtype.name is None or promotion_category(dtype.name) == 3:
        return dtype
    return Dtype(next((whole for whole, part in _PART_DTYPES.items() if part == dtype.name), None))


def _to_double(dtype: Dtype, default: Dtype) -> Dtype:
    """Return complex128 for a complex dtype, float64 for any other."""
    return Dtype("complex128" if dtype.name is not None and promotion_category(dtype.name) == 3 else "float64")


def _converted_symbol(conversion: str, dtype: Dtype) -> Dtype:
    """Return the conversion of a symbolic dtype by its name in a dtype rule; unknown if it does not tell."""
    match conversion:
        case "promote":
            return dtype
        case "float":
            return with_category(dtype, 2)
        case "pow":
            return with_category(dtype, 1)
        case "sum" | "real" | "real-float" if dtype.symbol is not None and dtype.symbol.category < 3:
            if dtype.symbol.category == 2:
                return dtype
            return converted_symbol(dtype, conversion, _LEAST_CATEGORIES[conversion])
    return UNKNOWN_DTYPE


_LEAST_CATEGORIES: Final = {"sum": 1, "real": 0, "real-float": 2}
"""The category that the result of a conversion has at least."""
_PART_DTYPES: Final[dict[str | None, str]] = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
"""The dtype of the real and imaginary parts of each complex dtype."""
_CONVERSIONS: Final[dict[str, Callable[[Dtype, Dtype], Dtype]]] = {
    "float": _to_floating,
    "sum": _to_sum,
    "pow": _to_power,
    "real": lambda dtype, default: real_part(dtype),
    "real-float": lambda dtype, default: _to_floating(real_part(dtype), default),
    "complex": lambda dtype, default: complex_of(_to_floating(dtype, default)),
    "double": _to_double,
}
"""The conversions of a promoted dtype by their names in dtype rules; each takes the dtype and the default dtype."""
