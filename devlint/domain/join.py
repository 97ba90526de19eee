"""The join of the lattice: what is known of a value that came along one of two paths."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Final, TypeGuard

from devlint.domain.device import DeviceSymbol
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.path_conditions import Literal, conjunction
from devlint.domain.path_conditions import disjunction as either_holds
from devlint.domain.placement import Basis, PlacementCase, join_under
from devlint.domain.storage import join_storages
from devlint.domain.value import (
    NONE,
    NOT_TENSOR,
    UNKNOWN,
    Array,
    ConditionalValue,
    Const,
    DeviceValue,
    DtypeValue,
    Number,
    OpaqueData,
    PendingCopy,
    Rank,
    StringPrefix,
    SymbolicBool,
    Tensor,
    Tuple,
    Unknown,
    Value,
    as_tensor,
)

MAX_ALTERNATIVES: Final = 4
"""Values of different kinds one name may hold at a point; real programs hold two or three, more is not worth
following."""


def join(left: Value, right: Value, test: Literal | None = None) -> Value:
    """`left` where the test holds, `right` where it does not; with no test, either of them."""
    if left is right or left == right:
        return left
    match left, right:
        case (Tensor(), Tensor() | Unknown()) | (Unknown(), Tensor()) if _is_another_parameter(left, right):
            return conditional_value(left, right, test)
        case Tensor(), Tensor():
            return join_tensors(left, right, test)
        case (Tensor(), Unknown() | OpaqueData()) | (Unknown() | OpaqueData(), Tensor()):
            return _join_with_unknown(left, right, test)
        case DeviceValue(), DeviceValue():
            return DeviceValue(join_under(test, left.placement, right.placement))
        case DtypeValue(), DtypeValue():
            return DtypeValue(join_dtypes(left.dtype, right.dtype))
        case Array(), Array():
            same_origin = left.fresh if left.fresh == right.fresh else None
            rank = left.rank | right.rank
            memory = join_storages(left.memory, right.memory)
            return Array(join_dtypes(left.dtype, right.dtype), same_origin, rank, memory, left.provenance)
        case OpaqueData(), OpaqueData():
            pinned = left.pinned if left.pinned == right.pinned else None
            placement = join_under(test, left.placement, right.placement)
            keys = dict.fromkeys(key for key, _ in (*left.parts, *right.parts))
            parts = tuple((key, join(opaque_part(left, key), opaque_part(right, key), test)) for key in keys)
            return OpaqueData(placement, pinned, left.mixed or right.mixed, parts=parts)
        case Tuple(), Tuple() if len(left.items) == len(right.items):
            items = tuple(join(a, b, test) for a, b in zip(left.items, right.items, strict=True))
            same = left.names == right.names and left.cls == right.cls
            return Tuple(items, left.names, left.cls) if same else Tuple(items)
        case (Const() | Number() | SymbolicBool(), Const() | Number() | SymbolicBool()) if _kind(left) and _kind(right):
            return _join_numbers(left, right, test)
        case (StringPrefix(), StringPrefix()):
            return StringPrefix()
    if (isinstance(left, Unknown) and left.origin is None) or (isinstance(right, Unknown) and right.origin is None):
        return UNKNOWN
    return conditional_value(left, right, test)


def opaque_part(batch: OpaqueData, key: Hashable) -> Value:
    """What a batch holds under a key, or as an attribute."""
    for name, value in batch.parts:
        if name == key:
            return value
    return replace(batch, moved=None, parts=())


def any_opaque_part(batch: OpaqueData) -> Value:
    """What stands for every part of a batch."""
    result: Value = replace(batch, moved=None, parts=())
    for _, value in batch.parts:
        result = join(result, value)
    return result


def _is_another_parameter(left: Value, right: Value) -> bool:
    """Whether one is a parameter and the other is not that: a module that keeps the one of them moves it."""
    cells = [one.cell if isinstance(one, Tensor) else None for one in (left, right)]
    named = all(
        isinstance(one, Tensor) or (isinstance(one, Unknown) and one.origin is not None) for one in (left, right)
    )
    return named and cells[0] != cells[1]


def join_tensors(left: Tensor, right: Tensor, test: Literal | None) -> Tensor:
    """Both tensors in one: what they agree on, and the placement by the test."""
    return Tensor(
        placement=join_under(test, left.placement, right.placement),
        dtype=join_dtypes(left.dtype, right.dtype),
        rank=_join_ranks(left, right),
        grad=left.grad if left.grad == right.grad else None,
        leaf=left.leaf if left.leaf == right.leaf else None,
        pinned=left.pinned if left.pinned == right.pinned else None,
        cell=left.cell if left.cell == right.cell else None,
        pending=_newest(left.pending, right.pending),
        fresh=left.fresh if left.fresh == right.fresh else None,
        memory=join_storages(left.memory, right.memory),
        trained=left.trained and right.trained,
    )


def _newest(left: PendingCopy | None, right: PendingCopy | None) -> PendingCopy | None:
    """The copy that may be unfinished after either path: the one begun last, of which the wait was seen last too."""
    if left is None or right is None:
        return left or right
    return left if left.epoch >= right.epoch else right


def _join_ranks(left: Tensor, right: Tensor) -> Rank:
    """The rank of either; an argument has that of the tensor that stands in for it."""
    for one, other in ((left, right), (right, left)):
        if one.rank is Rank.ANY and _is_argument(one):
            return other.rank
    return left.rank | right.rank


def _is_argument(tensor: Tensor) -> bool:
    match tensor.placement:
        case PlacementCase(device=DeviceSymbol(origin=("param", _, _)), basis=Basis.CALLER):
            return True
    return False


def join_dtypes(left: Dtype, right: Dtype) -> Dtype:
    """The dtype when both have it; where it comes from, only when they agree on that too."""
    if left == right:
        return left
    return replace(left, source=right.source) if left.name is not None and left.name == right.name else UNKNOWN_DTYPE


def _join_with_unknown(left: Value, right: Value, test: Literal | None) -> Value:
    """A tensor or something the caller chose: a tensor too when the caller's thing has a name or has been moved as a
    tensor is, for it stands in its place."""
    if (isinstance(left, Unknown) and left.origin is None) or (isinstance(right, Unknown) and right.origin is None):
        return UNKNOWN
    a, b = as_tensor(left), as_tensor(right)
    assert a is not None and b is not None
    return join_tensors(a, b, test)


def _kind(value: Value) -> str | None:
    match value:
        case Const(value=bool()) | SymbolicBool():
            return "bool"
        case Const(value=int()):
            return "int"
        case Const(value=float()):
            return "float"
        case Number(kind=kind):
            return kind or "number"
    return None


def _join_numbers(left: Value, right: Value, test: Literal | None) -> Value:
    if test is not None and (answer := _join_answers(left, right, test)) is not None:
        return answer
    if test is not None and isinstance(left, Const) and isinstance(right, Const):
        return conditional_value(left, right, test)
    kind = _kind(left)
    return Number(kind if kind == _kind(right) and kind != "number" else None)


def _join_answers(left: Value, right: Value, test: Literal) -> Value | None:
    """Two answers, one of which is known: where that one stands, the condition decides or the other's does."""
    match left, right:
        case Const(value=bool(yes)), Const(value=bool()):
            return SymbolicBool(test if yes else ~test)
        case SymbolicBool(test=yes), Const(value=bool(no)):
            return SymbolicBool(either_holds(~test, yes) if no else conjunction(test, yes))
        case Const(value=bool(yes)), SymbolicBool(test=no):
            return SymbolicBool(either_holds(test, no) if yes else conjunction(~test, no))
    return None


def alternatives(value: Value) -> list[Value]:
    """The values it may be, in order."""
    return [*alternatives(value.yes), *alternatives(value.no)] if isinstance(value, ConditionalValue) else [value]


def is_number_or_tensor(value: Value) -> TypeGuard[ConditionalValue]:
    """Whether a value is a number on one path and a tensor on another: a sum that a loop adds to, beginning with 0."""
    kinds = {type(one) for one in alternatives(value)} if isinstance(value, ConditionalValue) else set()
    return Tensor in kinds and len(kinds) > 1 and kinds <= {Tensor, Number, Const, SymbolicBool}


def conditional_value(left: Value, right: Value, test: Literal | None) -> Value:
    """Two values side by side, told apart by the test; unknown where there are too many."""
    known = alternatives(left)
    if isinstance(right, ConditionalValue) and right.test == test and test is not None:
        right = right.no
    if isinstance(left, ConditionalValue) and left.test == test and test is not None:
        left = left.yes
    if test is None and all(one in known for one in alternatives(right)):
        return left
    if len(alternatives(left)) + len(alternatives(right)) > MAX_ALTERNATIVES:
        return UNKNOWN
    if test is not None and not test.holds:
        return ConditionalValue(~test, right, left)
    return ConditionalValue(test, left, right)


def without_none(value: Value) -> Value:
    """The value given that it is one of which something is known: not None, not something that is no tensor."""
    if not isinstance(value, ConditionalValue):
        return value
    yes, no = without_none(value.yes), without_none(value.no)
    if yes in (NONE, NOT_TENSOR):
        return no
    if no in (NONE, NOT_TENSOR):
        return yes
    return value if (yes, no) == (value.yes, value.no) else ConditionalValue(value.test, yes, no)
