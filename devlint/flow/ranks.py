"""Ranks: whether a tensor or an array is 0-dim, as far as calls and their arguments say."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.flow.arguments import Argument
from devlint.flow.iteration import iterate
from devlint.flow.operands import Bound
from devlint.flow.run import Run
from devlint.values.heap import Sequence
from devlint.values.value import NONE, Array, Const, Number, Rank, Ref, Size, Tensor, Tuple, Value


def ruled_rank(run: Run, rule: str, bound: Bound, own: list[tuple[str, Rank]]) -> Rank:
    """The rank that a row's rule gives; `own` are the ranks of the data among the arguments."""
    kind, _, argument = rule.partition(":")
    match kind:
        case "broadcast":
            return broadcast(rank for _, rank in own)
        case "same":
            return next((rank for name, rank in own if name == argument), Rank.ANY)
        case "data":
            given = bound.get(argument or "data")
            return rank_of_data(run, given[0].value) if given else Rank.ANY
        case "reduce":
            return broadcast(rank for _, rank in own) if bound.get("other") else _reduced(bound)
        case "zero":
            return Rank.ZERO
        case "some":
            return Rank.SOME
        case "reduction":
            given = bound.get("reduction")
            return Rank.SOME if given is not None and given[0].value == Const("none") else Rank.ZERO
        case "shape":
            return rank_of_shape(run, bound.get("size") or bound.get("shape") or [])
    return Rank.ANY


def broadcast(ranks: Iterable[Rank]) -> Rank:
    """The rank of what comes of operands with these ranks: 0-dim if all are."""
    found = set(ranks)
    if Rank.SOME in found:
        return Rank.SOME
    return Rank.ZERO if found == {Rank.ZERO} else Rank.ANY


def _reduced(bound: Bound) -> Rank:
    """A reduction is 0-dim unless it is told which dimensions to reduce."""
    for name in ("dim", "axis", "keepdim", "keepdims"):
        given = bound.get(name)
        if given and given[0].value not in (NONE, Const(False)):
            return Rank.ANY
    return Rank.ZERO


def rank_of_shape(run: Run, given: list[Argument]) -> Rank:
    """The rank of what is made with these size arguments: only the empty tuple makes it 0-dim."""
    if len(given) != 1:
        return Rank.SOME if given else Rank.ANY
    value = given[0].value
    match value:
        case Tuple(items=items):
            return Rank.SOME if items else Rank.ZERO
        case Size(rank=Rank.ZERO):
            return Rank.ZERO
        case Const(value=None):
            return Rank.ANY
    found = iterate(run, value, given[0].node)
    return Rank.ZERO if found.items is not None and not found.items else Rank.SOME


def indexed_rank(rank: Rank, indices: list[Value | None]) -> Rank:
    """The rank of what an index takes out (None is a slice): a slice keeps a dimension, `None` makes one."""
    if all(index == Const(...) for index in indices):
        return rank
    if any(index is None or index == NONE for index in indices):
        return Rank.SOME
    several = any(
        isinstance(index, Ref) or (isinstance(index, (Tensor, Array)) and index.rank is Rank.SOME) for index in indices
    )
    return Rank.SOME if several else Rank.ANY


def rank_of_data(run: Run, value: Value) -> Rank:
    """The rank that data has as an array or a tensor."""
    match value:
        case Tensor(rank=rank) | Array(rank=rank):
            return rank
        case Const(value=bool() | int() | float() | complex()) | Number():
            return Rank.ZERO
        case Tuple():
            return Rank.SOME
        case Ref(address=address) if isinstance(run.get(address), Sequence):
            return Rank.SOME
    return Rank.ANY
