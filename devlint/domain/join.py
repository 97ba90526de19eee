"""The join of the value lattice: the abstract value after either of two paths."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, TypeGuard

from devlint.domain.availability import DEVICE_COUNT, is_available
from devlint.domain.device import DeviceSymbol
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, dtype_by_case, equals_surely
from devlint.domain.path_conditions import NO_CONDITION, Literal, assume, conjunction, entails
from devlint.domain.path_conditions import disjunction as either_holds
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, PlacementCase, Step
from devlint.domain.placement_lattice import join_under
from devlint.domain.record import replace
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
"""The largest number of values of different kinds that one name may hold at a point of the program.

Real programs hold two or three; with more alternatives the value becomes unknown.
"""


def join(left: Value, right: Value, test: Literal | None = None) -> Value:
    """Return the join of two values: `left` where the condition `test` holds, `right` where it does not.

    Where `test` is None, the result may be either value.
    """
    if left is right or left == right:
        return left
    match left, right:
        case Unknown(), Unknown() if left.origin is not None and left.origin == right.origin:
            # One object, which only one of the paths has cast.
            return replace(left, cast=UNKNOWN_DTYPE)
        case (Tensor(), Tensor() | Unknown()) | (Unknown(), Tensor()) if _is_different_parameter(left, right):
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
        case OpaqueData(), OpaqueData() if left.origin != right.origin:
            return join(replace(left, origin=None), replace(right, origin=None), test)
        case OpaqueData(), OpaqueData():
            pinned = left.pinned if left.pinned == right.pinned else None
            placement = join_under(test, left.placement, right.placement)
            keys = dict.fromkeys(key for key, _ in (*left.parts, *right.parts))
            parts = tuple((key, join(opaque_part(left, key), opaque_part(right, key), test)) for key in keys)
            may_move = left.may_move_inputs or right.may_move_inputs
            return OpaqueData(
                placement,
                pinned,
                left.mixed or right.mixed,
                parts=parts,
                may_move_inputs=may_move,
                of_loader=left.of_loader and right.of_loader,
                of_call=left.of_call and right.of_call,
                origin=left.origin,
            )
        case Tuple(), Tuple() if len(left.items) == len(right.items):
            items = tuple(join(a, b, test) for a, b in zip(left.items, right.items, strict=True))
            same = left.names == right.names and left.cls == right.cls
            return Tuple(items, left.names, left.cls) if same else Tuple(items)
        case (Const() | Number() | SymbolicBool(), Const() | Number() | SymbolicBool()) if _number_kind(
            left
        ) and _number_kind(right):
            return _join_numbers(left, right, test)
        case (StringPrefix(), StringPrefix()):
            return StringPrefix()
    if test is not None:
        match left, right:
            case OpaqueData(moved=Step()), Unknown(origin=None):
                return _moved_on_condition(left, test)
            case Unknown(origin=None), OpaqueData(moved=Step()):
                return _moved_on_condition(right, ~test)
    if (isinstance(left, Unknown) and left.origin is None) or (isinstance(right, Unknown) and right.origin is None):
        return UNKNOWN
    return conditional_value(left, right, test)


def _moved_on_condition(moved: OpaqueData, test: Literal) -> OpaqueData:
    """Return an unknown value that a transfer has moved where a condition holds, and that is anywhere elsewhere."""
    placement = join_under(test, moved.placement, UNKNOWN_PLACEMENT)
    return replace(moved, placement=placement, moved=None, origin=None)


def opaque_part(batch: OpaqueData, key: Hashable) -> Value:
    """Return the part of opaque data, such as a batch that a loader returns, under a key or an attribute name."""
    for name, value in batch.parts:
        if name == key:
            return value
    return part_as_loaded(batch, key)


def part_as_loaded(batch: OpaqueData, key: Hashable) -> OpaqueData:
    """Return the part of opaque data under a key or an attribute name, as it is before the program stores one there."""
    origin = None if batch.origin is None else ("item", batch.origin, key)
    return replace(_unnamed_part(batch), origin=origin)


def any_opaque_part(batch: OpaqueData) -> Value:
    """Return a value that stands for every part of opaque data, such as a batch that a loader returns."""
    result: Value = _unnamed_part(batch)
    for _, value in batch.parts:
        result = join(result, value)
    return result


def _unnamed_part(batch: OpaqueData) -> OpaqueData:
    """Return the value of a part of opaque data that the program has not stored itself."""
    return replace(batch, moved=None, parts=(), mixed=batch.mixed or batch.of_call, origin=None)


def _is_different_parameter(left: Value, right: Value) -> bool:
    """Return whether at least one of two values is a parameter and the other is not the same parameter.

    Such values must not be joined into one tensor, since a module that registers one of them moves only that one.
    """
    cells = [one.cell if isinstance(one, Tensor) else None for one in (left, right)]
    named = all(
        isinstance(one, Tensor) or (isinstance(one, Unknown) and one.origin is not None) for one in (left, right)
    )
    return named and cells[0] != cells[1]


def join_tensors(left: Tensor, right: Tensor, test: Literal | None) -> Tensor:
    """Return the join of two tensors: a tensor with the properties that both share.

    Its placement is that of `left` where the condition `test` holds and that of `right` where it fails.
    """
    return Tensor(
        placement=join_under(test, left.placement, right.placement),
        dtype=join_dtypes(left.dtype, right.dtype, test),
        rank=_join_ranks(left, right),
        grad=left.grad if left.grad == right.grad else None,
        leaf=left.leaf if left.leaf == right.leaf else None,
        pinned=left.pinned if left.pinned == right.pinned else None,
        cell=left.cell if left.cell == right.cell else None,
        pending=_join_pending_copies(left.pending, right.pending),
        fresh=left.fresh if left.fresh == right.fresh else None,
        memory=join_storages(left.memory, right.memory),
        trained=left.trained and right.trained,
        empty_sizes=left.empty_sizes if left.empty_sizes == right.empty_sizes else None,
    )


def _join_pending_copies(left: PendingCopy | None, right: PendingCopy | None) -> PendingCopy | None:
    """Return the unfinished device-to-host copy after either of two paths: of two copies, the one that began later.

    Waiting for the later copy waits for the earlier one too.
    """
    if left is None or right is None:
        return left or right
    return left if left.epoch >= right.epoch else right


def _join_ranks(left: Tensor, right: Tensor) -> Rank:
    """Return the join of the ranks of the tensor that a name holds on two paths.

    A function's argument of unknown rank is assumed to have the rank of the tensor that replaces it on the other path.
    """
    for one, other in ((left, right), (right, left)):
        if one.rank is Rank.ANY and _is_argument(one) and not _is_argument(other):
            return other.rank
    return left.rank | right.rank


def _is_argument(tensor: Tensor) -> bool:
    """Return whether a tensor is an argument whose device the caller chooses."""
    match tensor.placement:
        case PlacementCase(device=DeviceSymbol(origin=("param", _, _)), basis=Basis.CALLER):
            return True
    return False


def join_dtypes(left: Dtype, right: Dtype, test: Literal | None = None) -> Dtype:
    """Return the dtype after either of two paths: the dtype if both have one name or symbol, else unknown.

    Where `test` is the condition of the path of `left`, an unknown dtype keeps the two as cases. Of two equal dtypes
    with different sources (written out, default, computed), the result has the source of `right`.
    """
    if left == right:
        return left
    if equals_surely(left, right):
        return replace(left, source=right.source)
    if test is None:
        return UNKNOWN_DTYPE
    return dtype_by_case(((test, left), (~test, right)) if test.holds else ((~test, right), (test, left)))


def _join_with_unknown(left: Value, right: Value, test: Literal | None) -> Value:
    """Return the join of a tensor with an unknown value or with opaque data (data of unknown structure).

    A value that the program names is read as a tensor, since it is used in place of one. The join with an unnamed
    unknown value is unknown.
    """
    if (isinstance(left, Unknown) and left.origin is None) or (isinstance(right, Unknown) and right.origin is None):
        return UNKNOWN
    a, b = as_tensor(left), as_tensor(right)
    assert a is not None and b is not None
    return join_tensors(a, b, test)


def _number_kind(value: Value) -> str | None:
    """Return the name of a number's Python type: "bool", "int" or "float", or "number" where the type is unknown.

    The result is None for any value that is no number.
    """
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
    """Return the join of two numbers: a symbolic bool or a conditional value where possible.

    Otherwise the result is a number of unknown value, with the type that both have in common.
    """
    if test is not None and (answer := _join_bools(left, right, test)) is not None:
        return answer
    if test is not None and isinstance(left, Const) and isinstance(right, Const):
        return conditional_value(left, right, test)
    if test is not None:
        for count, other, holds in ((left, right, test), (right, left, ~test)):
            if _is_count_of_devices(count, other, holds):
                return count
    kind = _number_kind(left)
    return Number(kind if kind == _number_kind(right) and kind != "number" else None)


def _is_count_of_devices(count: Value, other: Value, test: Literal) -> bool:
    """Return whether a number of devices that is asked for only where there are such devices is 0 elsewhere."""
    match count, other:
        case Number(origin=(kind, str(type_))), Const(value=0) if kind == DEVICE_COUNT:
            return entails(frozenset({~test}), is_available(type_)) is False
    return False


def _join_bools(left: Value, right: Value, test: Literal) -> Value | None:
    """Return the join of two bools, at least one of them constant, as one symbolic bool; None for other values."""
    match left, right:
        case Const(value=bool(yes)), Const(value=bool()):
            return SymbolicBool(test if yes else ~test)
        case SymbolicBool(test=yes), Const(value=bool(no)):
            return SymbolicBool(either_holds(~test, yes) if no else conjunction(test, yes))
        case Const(value=bool(yes)), SymbolicBool(test=no):
            return SymbolicBool(either_holds(test, no) if yes else conjunction(~test, no))
    return None


def alternatives(value: Value) -> list[Value]:
    """Return the unconditional values that a value may be: the leaves of a conditional value, else the value itself."""
    return [*alternatives(value.yes), *alternatives(value.no)] if isinstance(value, ConditionalValue) else [value]


def is_number_or_tensor(value: Value) -> TypeGuard[ConditionalValue]:
    """Return whether a value is a number on one path and a tensor on another.

    The usual example is a sum that starts with 0 and to which a loop adds tensors.
    """
    kinds = {type(one) for one in alternatives(value)} if isinstance(value, ConditionalValue) else set()
    return Tensor in kinds and len(kinds) > 1 and kinds <= {Tensor, Number, Const, SymbolicBool}


def conditional_value(left: Value, right: Value, test: Literal | None) -> Value:
    """Return a value that is `left` where `test` holds and `right` where it fails.

    With more than MAX_ALTERNATIVES alternatives, the result is unknown.
    """
    if test is not None and not test.holds:
        return conditional_value(right, left, ~test)
    if test is not None:
        if _alternative_under(right, test) == left:
            return right
        if _alternative_under(left, ~test) == right:
            return left
    known = alternatives(left)
    if isinstance(right, ConditionalValue) and right.test == test and test is not None:
        right = right.no
    if isinstance(left, ConditionalValue) and left.test == test and test is not None:
        left = left.yes
    if test is None and all(one in known for one in alternatives(right)):
        return left
    if len(alternatives(left)) + len(alternatives(right)) > MAX_ALTERNATIVES:
        return UNKNOWN
    return ConditionalValue(test, left, right)


def _alternative_under(value: Value, test: Literal) -> Value:
    """Return the alternative of a conditional value that a condition selects; otherwise the value itself."""
    facts = assume(NO_CONDITION, test)
    while facts is not None and isinstance(value, ConditionalValue) and value.test is not None:
        known = entails(facts, value.test)
        if known is None:
            break
        value = value.yes if known else value.no
    return value


def without_none(value: Value) -> Value:
    """Return a value without those of its conditional alternatives that are None or known to be no tensor.

    A value that is not conditional is returned unchanged.
    """
    if not isinstance(value, ConditionalValue):
        return value
    yes, no = without_none(value.yes), without_none(value.no)
    if yes in (NONE, NOT_TENSOR):
        return no
    if no in (NONE, NOT_TENSOR):
        return yes
    return value if (yes, no) == (value.yes, value.no) else ConditionalValue(value.test, yes, no)
