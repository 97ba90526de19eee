"""Whether what an operation returns is 0-dim, by its row's rule."""

from __future__ import annotations

from collections.abc import Sequence

from devlint.flow.events import Operand
from devlint.flow.iteration import iterate
from devlint.flow.operands import Bound
from devlint.flow.run import Run
from devlint.semantics.table import Row
from devlint.values.heap import Sequence as SequenceObject
from devlint.values.value import NONE, Const, Number, Rank, Ref, Tensor, Tuple, Value


def result_rank(run: Run, row: Row, bound: Bound, operands: list[Operand]) -> Rank:
    """The rank that the row's rule gives."""
    kind, _, argument = row.rank.partition(":")
    match kind:
        case "broadcast":
            return _broadcast(operands)
        case "same":
            return next((one.tensor.rank for one in operands if one.name == argument), Rank.ANY)
        case "reduce":
            if len(operands) > 1:
                return _broadcast(operands)
            given = bound.get("dim")
            return Rank.ZERO if given is None or given[0].value == NONE else Rank.ANY
        case "zero":
            return Rank.ZERO
        case "some":
            return Rank.SOME
        case "reduction":
            given = bound.get("reduction")
            return Rank.SOME if given is not None and given[0].value == Const("none") else Rank.ZERO
        case "shape":
            return _rank_of_shape(run, row, bound)
        case "data":
            return rank_of_data(run, bound["data"][0].value) if "data" in bound else Rank.ANY
    return Rank.ANY


def _broadcast(operands: Sequence[Operand]) -> Rank:
    ranks = {one.tensor.rank for one in operands}
    if Rank.SOME in ranks:
        return Rank.SOME
    return Rank.ZERO if ranks == {Rank.ZERO} else Rank.ANY


def rank_of_data(run: Run, value: Value) -> Rank:
    """The rank of the tensor that a Python literal, a tensor or an array becomes."""
    match value:
        case Tensor(rank=rank):
            return rank
        case Const(value=bool() | int() | float() | complex()) | Number():
            return Rank.ZERO
        case Tuple():
            return Rank.SOME
        case Ref(address=address) if isinstance(run.get(address), SequenceObject):
            return Rank.SOME
    return Rank.ANY


def _rank_of_shape(run: Run, row: Row, bound: Bound) -> Rank:
    given = bound.get("size", [])
    if len(given) != 1:
        return Rank.SOME if given else Rank.ANY
    value = given[0].value
    if isinstance(value, Tuple):
        return Rank.SOME if value.items else Rank.ZERO
    if isinstance(value, (Const, Number)):
        return Rank.SOME
    found = iterate(run, value, given[0].node)
    if found.items is not None:
        return Rank.SOME if found.items else Rank.ZERO
    return Rank.ANY
