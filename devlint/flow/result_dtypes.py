"""The dtype of what an operation returns, by its row's rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import libcst as cst

from devlint.flow.events import Operand
from devlint.flow.operands import Bound
from devlint.flow.run import Run
from devlint.semantics.table import Row
from devlint.values.dtype import UNKNOWN_DTYPE, Dtype, Source, category, is_floating, promote_names
from devlint.values.value import NONE, Const, DtypeValue, Number, Rank, Value

DEFAULT_FLOAT: Final = Dtype("float32", Source.DEFAULT)


def result_dtype(run: Run, rule: str, row: Row, bound: Bound, operands: list[Operand], node: cst.CSTNode) -> Dtype:
    """The dtype that a row's rule gives."""
    kind, _, argument = rule.partition(":")
    if kind in ("kwarg", "kwarg-or"):
        given = bound.get("dtype")
        if given is not None and given[0].value != NONE:
            value = given[0].value
            return replace(value.dtype, source=Source.EXPLICIT) if isinstance(value, DtypeValue) else UNKNOWN_DTYPE
        if kind == "kwarg":
            return DEFAULT_FLOAT if argument in ("", "default") else Dtype(argument, Source.DEFAULT)
        kind = "same"
    own = {one.name: one.tensor.dtype for one in reversed(operands)}
    match kind:
        case "literal":
            return _literal(bound, argument.split(","))
        case "double":
            return Dtype("float64")
        case "same":
            return own.get(argument, UNKNOWN_DTYPE)
        case "promote" | "promote-all" | "pow":
            return _promoted(bound, operands)
        case "float" | "real-float":
            dtype = _promoted(bound, operands)
            return DEFAULT_FLOAT if dtype.name is not None and category(dtype.name) < 2 else dtype
        case "sum":
            dtype = _promoted(bound, operands[:1])
            return Dtype("int64") if dtype.name is not None and category(dtype.name) < 2 else dtype
        case "real":
            dtype = own.get(argument, UNKNOWN_DTYPE)
            return {"complex64": Dtype("float32"), "complex128": Dtype("float64")}.get(dtype.name or "", dtype)
        case "unknown" | "complex" | "":
            return UNKNOWN_DTYPE
    return Dtype(kind)


def _literal(bound: Bound, names: list[str]) -> Dtype:
    """The dtype a factory takes from the Python numbers it is given (`torch.full`, `torch.arange`), unless told."""
    given = bound.get("dtype")
    if given is not None and given[0].value != NONE:
        value = given[0].value
        return replace(value.dtype, source=Source.EXPLICIT) if isinstance(value, DtypeValue) else UNKNOWN_DTYPE
    kinds = {_kind_of_number(argument.value) for name in names for argument in bound.get(name, ())}
    if "float" in kinds:
        return DEFAULT_FLOAT
    if None in kinds or not kinds:
        return UNKNOWN_DTYPE
    return Dtype("int64" if "int" in kinds else "bool", Source.DEFAULT)


def _kind_of_number(value: Value) -> str | None:
    match value:
        case Const(value=bool() | int() | float() as constant):
            return type(constant).__name__
        case Number(kind=kind):
            return kind
    return None


def _promoted(bound: Bound, operands: Sequence[Operand]) -> Dtype:
    """Torch's promotion: the highest among the dimensioned tensors; a 0-dim one or a number counts only by category."""
    if not operands or any(one.tensor.dtype.name is None for one in operands):
        return UNKNOWN_DTYPE
    large = [one.tensor.dtype for one in operands if one.tensor.rank is not Rank.ZERO]
    small = [one.tensor.dtype for one in operands if one.tensor.rank is Rank.ZERO]
    if (
        large
        and any(one.tensor.rank is Rank.ANY for one in operands)
        and len({one.tensor.dtype.name for one in operands}) > 1
    ):
        return UNKNOWN_DTYPE
    ranked = large or small
    result = ranked[0]
    for dtype in ranked[1:]:
        result = _higher(result, dtype)
    for dtype in small if large else ():
        if result.name and dtype.name and category(dtype.name) > category(result.name):
            result = dtype
    names = {operand.name for operand in operands}
    for name, arguments in bound.items():
        for argument in arguments:
            if name not in names and name in ("other", "value", "exponent", "divisor") and result.name is not None:
                result = _with_number(result, argument.value)
    return result


def _higher(left: Dtype, right: Dtype) -> Dtype:
    if left.name is None or right.name is None:
        return UNKNOWN_DTYPE
    name = promote_names(left.name, right.name)
    if name == left.name:
        return left
    return right if name == right.name else Dtype(name)


def _with_number(dtype: Dtype, value: Value) -> Dtype:
    name = dtype.name
    if name is None or is_floating(name) or name.startswith("complex"):
        return dtype
    match value:
        case Const(value=float()) | Number(kind="float"):
            return DEFAULT_FLOAT
        case Const(value=bool()) | Number(kind="bool"):
            return dtype
        case Const(value=int()) | Number(kind="int"):
            return Dtype("int64") if name == "bool" else dtype
    return UNKNOWN_DTYPE
