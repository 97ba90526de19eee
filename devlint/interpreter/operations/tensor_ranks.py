"""Ranks of tensors and arrays: whether they are 0-dim, as far as calls and their arguments determine it."""

from __future__ import annotations

from collections.abc import Iterable

from devlint.domain.objects import Sequence
from devlint.domain.value import NONE, Array, Const, Number, Rank, Ref, Size, Tensor, Tuple, Value
from devlint.interpreter.operations.row_conditions import is_passed
from devlint.interpreter.state.arguments import Argument, BoundArguments
from devlint.interpreter.state.frame import Frame


def rank_by_rule(frame: Frame, rule: str, bound: BoundArguments, own: list[tuple[str, Rank]]) -> Rank:
    """Return the rank of a library call's result by the rank rule of the function's row of the semantics table.

    `own` are the ranks of the tensor and array arguments with their parameter names.
    """
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
            left = _reduced_rank(bound, own[0][1] if own else Rank.ANY)
            # Several quantiles at once add a dimension.
            return left.lower_bound if bound.get("q") else left
        case "more":
            return broadcast_rank(rank for _, rank in own).more
        case "zero":
            return Rank.ZERO
        case "some":
            return Rank.SOME
        case "one":
            return Rank.ONE
        case "two":
            return Rank.TWO
        case "joined":
            # An empty 1-dim tensor may be joined with any other.
            joined = broadcast_rank(rank for _, rank in own)
            return joined if joined.number else Rank.at_least(max(joined.least, _dimensions_counted(bound.get("dim"))))
        case "reduction":
            given = bound.get("reduction")
            return Rank.SOME if given is not None and given[0].value == Const("none") else Rank.ZERO
        case "shape":
            sizes = next((bound[name] for name in (argument, "size", "shape") if bound.get(name)), None)
            found = rank_of_shape(frame, sizes) if sizes is not None else broadcast_rank(rank for _, rank in own)
            # Tiling by fewer numbers than the tensor has dimensions keeps the others.
            return found.lower_bound if argument == "dims" else found
        case "product":
            return Rank.SOME if any(rank.least > 1 for _, rank in own) else Rank.ANY
        case "squeeze":
            before = own[0][1] if own else Rank.ANY
            left = _rank_without(bound.get("dim"), before)
            # A dimension of another size than 1 stays.
            return left if before.number is None else before | left
        case "equation":
            return _equation_rank(bound.get("equation"))
    return Rank.ANY


def _dimensions_counted(given: list[Argument] | None) -> int:
    """Return how many dimensions a tensor has at least that has the dimension which an argument names."""
    match given:
        case [Argument(value=Const(value=int(dim)))]:
            return dim + 1 if dim >= 0 else -dim
    return 1


def is_promoting_summation(bound: BoundArguments) -> bool:
    """Return whether a call is an Einstein summation that promotes its operands, as `i,j->ij` does.

    It does unless it sums over an index that several operands have, as `ij,jk->ik` does over `j`: that multiplies
    matrices, for which torch wants operands of one dtype. Of an unknown equation it is assumed.
    """
    match bound.get("equation"):
        case [Argument(value=Const(value=str(equation)))]:
            left, arrow, result = equation.replace(" ", "").partition("->")
            shared = {one for one in left if one.isalpha() and sum(one in part for part in left.split(",")) > 1}
            return not (shared - set(result) if arrow else shared)
        case None:
            return False
    return True


def _equation_rank(given: list[Argument] | None) -> Rank:
    """Return the rank of an Einstein summation's result, from the right side of the equation, as in `ij,jk->ik`."""
    match given:
        case [Argument(value=Const(value=str(equation)))] if "->" in equation and "..." not in equation:
            return Rank.of(len(equation.partition("->")[2].replace(" ", "")))
    return Rank.ANY


def broadcast_rank(ranks: Iterable[Rank]) -> Rank:
    """Return the rank of a result broadcast from operands of these ranks: the highest rank; 0-dim if all are 0-dim."""
    found = list(ranks)
    numbers = [rank.number for rank in found if rank.number is not None]
    if found and len(numbers) == len(found):
        return Rank.of(max(numbers))
    return Rank.at_least(max((rank.least for rank in found), default=0))


def _reduced_rank(bound: BoundArguments, own: Rank) -> Rank:
    """Return the rank of a reduction: 0-dim unless an argument names the dimensions to reduce or keeps them."""
    kept = any(is_passed(bound, name) for name in ("keepdim", "keepdims"))
    if kept:
        return own
    given = bound.get("dim") or bound.get("axis")
    return _rank_without(given, own) if given and given[0].value != NONE else Rank.ZERO


def _rank_without(given: list[Argument] | None, own: Rank) -> Rank:
    """Return the rank that remains of a tensor when the dimension that an argument names is removed."""
    match given:
        case [Argument(value=Const(value=int(dim)))] if dim > 0 or dim < -1:
            # A tensor with a dimension of this number has at least one other dimension.
            return own.fewer if own.number is not None else Rank.SOME
        case [Argument(value=Const(value=int()) | Number())]:
            return own.fewer
    return Rank.ANY


def rank_of_shape(frame: Frame, given: list[Argument]) -> Rank:
    """Return the rank of a tensor made with these size arguments; only an empty tuple makes it 0-dim."""
    if len(given) != 1:
        return Rank.of(len(given)) if given else Rank.ANY
    value = given[0].value
    match value:
        case Tuple(items=items):
            return Rank.of(len(items))
        case Const(value=int()) | Number(kind="int"):
            return Rank.ONE
        case Size(rank=rank) if rank.number is not None or rank is Rank.MANY:
            return rank
        case Const(value=None):
            return Rank.ANY
    found = frame.iterate(value, given[0].node)
    return Rank.of(len(found.items)) if found.items is not None else Rank.SOME


def indexed_rank(rank: Rank, indices: list[Value | None]) -> Rank:
    """Return the rank of an indexed tensor; in `indices`, Python's None stands for a slice.

    A number removes a dimension and a slice keeps one; the index `None` adds one, and several positions at once (a list
    or a tensor of positions) keep one.
    """
    sliced = sum(index is None for index in indices)
    made = sum(index == NONE for index in indices)
    others = [index for index in indices if index is not None and index not in (NONE, Const(...))]
    if not others:
        left = rank if rank is not Rank.ANY or not sliced else Rank.SOME
        for _ in range(made):
            left = left.more
        return left
    if any(_selects_several(index) for index in others):
        return Rank.at_least(sliced + made + 1)
    left = rank
    for index in others:
        left = left.fewer if _selects_one(index) else Rank.ANY
    if left.number is not None:
        return Rank.of(left.number + made)
    return Rank.at_least(sliced + made) if sliced + made else left


def has_too_many_indices(rank: Rank, indices: list[Value | None]) -> bool:
    """Return whether a tensor surely has fewer dimensions than the slices and numbers among its indices take.

    In `indices`, Python's None stands for a slice. Indexing fails then: a 0-dim tensor has no item.
    """
    taken = sum(index is None or _is_position(index) for index in indices)
    return rank.number is not None and taken > rank.number


def _is_position(index: Value) -> bool:
    """Return whether an index is a number; True and False take no dimension."""
    match index:
        case Const(value=constant):
            return isinstance(constant, int) and not isinstance(constant, bool)
        case Number(kind=kind):
            return kind != "bool"
    return False


def _selects_several(index: Value) -> bool:
    """Return whether an index selects several positions: a list, or a tensor or array that is not 0-dim."""
    return isinstance(index, Ref) or (isinstance(index, (Tensor, Array)) and index.rank.is_dimensioned)


def _selects_one(index: Value) -> bool:
    """Return whether an index selects one position: a number, or a 0-dim tensor or array."""
    return isinstance(index, (Const, Number)) or (isinstance(index, (Tensor, Array)) and index.rank is Rank.ZERO)


def rank_of_data(frame: Frame, value: Value, depth: int = 0) -> Rank:
    """Return the rank of a value as an array or tensor; numbers are 0-dim, lists count their nesting."""
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
