"""Calls that torch refuses on every device, whatever the values: code behind them does not run."""

from __future__ import annotations

from typing import Final

from devlint.domain.value import Const, Number, Tensor
from devlint.interpreter.state.arguments import BoundArguments
from devlint.semantics.table import Row

_SIZES: Final = "*size"
"""The parameter of factories such as `torch.rand` for the sizes of the tensor."""

_TAKE_ALL_DIMENSIONS: Final = frozenset({"torch.Tensor.repeat", "torch.Tensor.expand"})
"""The methods that take a number for each dimension of the tensor, and may take more."""


def is_refused_call(row: Row, bound: BoundArguments) -> bool:
    """Return whether a call of which all arguments are known surely raises.

    That is a factory without sizes, or a repetition with too few of them.
    """
    if row.factory and row.params[:1] == (_SIZES,):
        return not bound.get(_SIZES[1:])
    if row.name not in _TAKE_ALL_DIMENSIONS:
        return False
    (own, *_), sizes = bound[row.params[0]], [one.value for one in bound.get(row.params[1][1:], ())]
    if not isinstance(own.value, Tensor) or not all(isinstance(one, Const | Number) for one in sizes):
        return False
    return own.value.rank.number is not None and len(sizes) < own.value.rank.number
