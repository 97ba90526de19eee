"""Calls that torch refuses on every device, whatever the values: code behind them does not run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from devlint.domain.value import Const, Number, Rank, Tensor
from devlint.interpreter.state.arguments import Argument, BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.semantics.table import Row

_SIZES: Final = "*size"
"""The parameter of factories such as `torch.rand` for the sizes of the tensor."""

_TAKE_ALL_DIMENSIONS: Final = frozenset({"torch.Tensor.repeat", "torch.Tensor.expand"})
"""The methods that take a number for each dimension of the tensor, and may take more."""


_TAKEN_BY_FACTORIES: Final = frozenset(
    "out generator names memory_format dtype layout device pin_memory requires_grad low end base size input x x1 a axis"
    " keepdims".split()
)
"""Keywords of factories that a row of the table may leave out, with those that torch takes for NumPy's sake."""


def is_refused_call(row: Row, bound: BoundArguments, keywords: Collection[str]) -> bool:
    """Return whether a call of which all arguments are known surely raises.

    That is a factory without sizes or with a keyword that it does not have, a repetition with too few sizes, or a sum
    of products whose equation names other numbers of dimensions than the operands have.
    """
    if row.name == "torch.einsum":
        return _contradicts_equation(bound)
    if row.factory and any(one not in row.params and one not in _TAKEN_BY_FACTORIES for one in keywords):
        return True
    if row.factory and row.params[:1] == (_SIZES,):
        return not bound.get(_SIZES[1:])
    if row.name not in _TAKE_ALL_DIMENSIONS:
        return False
    (own, *_), sizes = bound[row.params[0]], [one.value for one in bound.get(row.params[1][1:], ())]
    if not isinstance(own.value, Tensor) or not all(isinstance(one, Const | Number) for one in sizes):
        return False
    return own.value.rank.number is not None and len(sizes) < own.value.rank.number


def _contradicts_equation(bound: BoundArguments) -> bool:
    """Return whether an operand of an einsum surely has not as many dimensions as its term in the equation.

    A term with an ellipsis stands for any number of them, at least for those that it names.
    """
    match bound.get("equation"):
        case [Argument(value=Const(value=str(equation)))]:
            terms = equation.replace(" ", "").split("->")[0].split(",")
        case _:
            return False
    operands = [one.value for one in bound.get("operands", ())]
    if len(terms) != len(operands):
        return False
    return any(
        isinstance(one, Tensor) and not _fits_term(one.rank, term) for term, one in zip(terms, operands, strict=True)
    )


def _fits_term(rank: Rank, term: str) -> bool:
    """Return whether a tensor of a rank may have the dimensions that a term of an equation names."""
    named = len(term.replace("...", ""))
    if "..." in term:
        return rank.number is None or rank.number >= named
    return rank.least <= named if rank.number is None else rank.number == named


def joins_different_ranks(row: Row, operands: Sequence[Operand]) -> bool:
    """Return whether a call surely raises because the tensors that it joins differ in their numbers of dimensions.

    `torch.cat` takes 1-dim tensors without elements beside others, and no 0-dim tensor.
    """
    ranks = [one.tensor.rank for one in operands]
    if row.name == "torch.cat":
        if Rank.ZERO in ranks:
            return True
        ranks = [one for one in ranks if one.least > 1]
    elif row.name != "torch.stack":
        return False
    numbers = {one.number for one in ranks if one.number is not None}
    return len(numbers) > 1 or any(one.least > number for one in ranks for number in numbers)
