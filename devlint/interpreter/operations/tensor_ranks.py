"""Ranks: whether a tensor or an array is 0-dim, as far as calls and their arguments say."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.domain.objects import Sequence
from devlint.domain.value import NONE, Array, Const, Number, Rank, Ref, Size, Tensor, Tuple, Value
from devlint.interpreter.operations.row_conditions import is_passed
from devlint.interpreter.state.arguments import Argument, BoundArguments
from devlint.interpreter.state.frame import Frame


def rank_by_rule(frame: Frame, rule: str, bound: BoundArguments, own: list[tuple[str, Rank]]) -> Rank:
    """The rank that a row's rule gives; `own` are the ranks of the data among the arguments."""
    kind, _, argument = rule.partition(":")
    match kind:
        case "broadcast":
            return broadcast_rank(rank for _, rank in own)
        case "same":
            return next((rank for name, rank in own if name == argument), Rank.ANY)
        case "data":
            given = bound.get(argument or "data")
            return rank_of_data(frame, given[0].value) if given else Rank.ANY
        case "reduce":
            if bound.get("other"):
                return broadcast_rank(rank for _, rank in own)
            return _reduced(bound, own[0][1] if own else Rank.ANY)
        case "zero":
            return Rank.ZERO
        case "some":
            return Rank.SOME
        case "reduction":
            given = bound.get("reduction")
            return Rank.SOME if given is not None and given[0].value == Const("none") else Rank.ZERO
        case "shape":
            sizes = next((bound[name] for name in (argument, "size", "shape") if bound.get(name)), None)
            return rank_of_shape(frame, sizes) if sizes is not None else broadcast_rank(rank for _, rank in own)
        case "product":
            return Rank.SOME if any(rank is Rank.MANY for _, rank in own) else Rank.ANY
        case "squeeze":
            return _less(bound.get("dim"), own[0][1] if own else Rank.ANY)
        case "equation":
            return _of_equation(bound.get("equation"))
    return Rank.ANY


def _of_equation(given: list[Argument] | None) -> Rank:
    """The rank that the right side of an Einstein summation says."""
    match given:
        case [Argument(value=Const(value=str(equation)))] if "->" in equation and "..." not in equation:
            return _of_length(len(equation.partition("->")[2].replace(" ", "")))
    return Rank.ANY


def broadcast_rank(ranks: Iterable[Rank]) -> Rank:
    """The rank of what comes of operands with these ranks: as high as the highest, 0-dim if all are."""
    found = set(ranks)
    for high in (Rank.MANY, Rank.SOME):
        if high in found:
            return high
    return Rank.ZERO if found == {Rank.ZERO} else Rank.ANY


def _reduced(bound: BoundArguments, own: Rank) -> Rank:
    """A reduction is 0-dim unless it is told which dimensions to reduce, or to keep."""
    kept = any(is_passed(bound, name) for name in ("keepdim", "keepdims"))
    if kept:
        return own
    given = bound.get("dim") or bound.get("axis")
    return _less(given, own) if given and given[0].value != NONE else Rank.ZERO


def _less(given: list[Argument] | None, own: Rank) -> Rank:
    """The rank without the dimensions that an argument names."""
    match given:
        case [Argument(value=Const(value=int(dim)))] if dim > 0 or dim < -1:
            # There are dimensions beside that one.
            return Rank.SOME
        case [Argument(value=Const(value=int()) | Number())]:
            return own.fewer
    return Rank.ANY


def rank_of_shape(frame: Frame, given: list[Argument]) -> Rank:
    """The rank of what is made with these size arguments: only the empty tuple makes it 0-dim."""
    if len(given) != 1:
        return _of_length(len(given)) if given else Rank.ANY
    value = given[0].value
    match value:
        case Tuple(items=items):
            return _of_length(len(items))
        case Size(rank=Rank.ZERO | Rank.MANY as rank):
            return rank
        case Const(value=None):
            return Rank.ANY
    found = frame.iterate(value, given[0].node)
    return _of_length(len(found.items)) if found.items is not None else Rank.SOME


def _of_length(count: int) -> Rank:
    return Rank.ZERO if not count else Rank.SOME if count == 1 else Rank.MANY


def indexed_rank(rank: Rank, indices: list[Value | None]) -> Rank:
    """The rank of what an index takes out (None is a slice): a number takes a dimension away, a slice keeps one, `None`
    and several indices at once make one."""
    sliced = sum(index is None for index in indices)
    made = sum(index == NONE for index in indices)
    others = [index for index in indices if index is not None and index not in (NONE, Const(...))]
    if not others:
        left = rank if rank is not Rank.ANY or not sliced else Rank.SOME
        for _ in range(made):
            left = left.more
        return left
    if any(_is_several(index) for index in others):
        return _of_length(sliced + made + 1)
    left = rank
    for index in others:
        left = left.fewer if _is_one(index) else Rank.ANY
    return _of_length(sliced + made) if sliced + made else left


def _is_several(index: Value) -> bool:
    return isinstance(index, Ref) or (isinstance(index, (Tensor, Array)) and index.rank.is_dimensioned)


def _is_one(index: Value) -> bool:
    return isinstance(index, (Const, Number)) or (isinstance(index, (Tensor, Array)) and index.rank is Rank.ZERO)


def rank_of_data(frame: Frame, value: Value, depth: int = 0) -> Rank:
    """The rank that data has as an array or a tensor."""
    match value:
        case Tensor(rank=rank) | Array(rank=rank):
            return rank
        case Const(value=bool() | int() | float() | complex()) | Number():
            return Rank.ZERO
        case Tuple(items=items):
            return rank_of_data(frame, items[0], depth + 1).more if items and not depth else Rank.SOME
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence):
                element = thing.items[0] if thing.items else thing.element
                return rank_of_data(frame, element, depth + 1).more if not depth else Rank.SOME
    return Rank.ANY
