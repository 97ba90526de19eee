"""Result tensors of operations: placement, memory, rank, and whether autograd follows the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Final

import libcst as cst

from devlint.domain.device import KnownDevice, device_from_string, is_accelerator, is_host
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype, is_countable
from devlint.domain.placement import (
    NO_PLACEMENT,
    PERHAPS_ON_HOST,
    UNKNOWN_PLACEMENT,
    Basis,
    ConditionalPlacement,
    Placement,
    PlacementCase,
    StepKind,
    is_unknown_placement,
    map_cases,
    placement_cases,
)
from devlint.domain.placement_lattice import meet_placements, sharing_preference, without_failed_cases
from devlint.domain.record import replace
from devlint.domain.storage import Storage
from devlint.domain.value import NONE, Const, FactoryOrigin, Number, OriginKind, Rank, Tensor, computed_tensor
from devlint.interpreter.objects.library_objects import CHOSEN_PLACEMENT, dataset_placement, object_placement
from devlint.interpreter.operations.aliasing import view_storage
from devlint.interpreter.operations.copies_in_flight import new_pinned_storage
from devlint.interpreter.operations.device_arguments import default_placement, requested_placement
from devlint.interpreter.operations.dtype_origins import dtype_with_origin
from devlint.interpreter.operations.empty_tensors import empty_sizes_of_result
from devlint.interpreter.operations.extents import extent_of_result
from devlint.interpreter.operations.operation_names import short_name
from devlint.interpreter.operations.pinned_memory import report_pinned_accelerator
from devlint.interpreter.operations.result_dtypes import first_result_dtype, operands_named
from devlint.interpreter.operations.row_conditions import is_passed, select_by_condition
from devlint.interpreter.operations.tensor_ranks import rank_by_rule
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand, RefusedOnBackend
from devlint.interpreter.state.frame import Frame
from devlint.semantics.dtype_limits import REFUSED_DTYPES
from devlint.semantics.table import Row

ALL_REFUSED: Final = frozenset(dtype for one in REFUSED_DTYPES.values() for dtype in one)
"""The dtypes of which some backend makes no tensors."""

TRIANGLES: Final = ("triu", "tril")
"""The operations that cut a triangular mask out of a tensor."""

EXPANDING: Final = ("expand", "expand_as", "broadcast_to", "broadcast_tensors")
"""Views that repeat their memory: a copy of such a view is larger than the tensor that the factory made."""


def _only_changes_form(row: Row) -> bool:
    """Return whether an operation returns its operand's values in another form only: a view, or a triangular mask."""
    name = row.name.rpartition(".")[2]
    return name in TRIANGLES or (bool(row.view or row.may_view) and name not in EXPANDING)


def result_tensor(
    frame: Frame,
    row: Row,
    bound: BoundArguments,
    operands: list[Operand],
    node: cst.CSTNode,
    *,
    corrected_placement: Placement | None,
    complete: bool,
) -> Tensor:
    """Return the tensor that an operation returns, or the first of several.

    `corrected_placement` is the placement to assume after a reported device conflict; None if there was none.
    `complete` is whether all arguments of the call are known.
    """
    placement = (
        corrected_placement
        if corrected_placement is not None
        else _result_placement(frame, row, bound, operands, node, complete=complete)
    )
    first = operands[0].tensor if operands else None
    dtype_known = complete or is_passed(bound, "dtype") or "dtype" not in row.params
    dtype = first_result_dtype(frame, row, bound, operands) if dtype_known else UNKNOWN_DTYPE
    rank = rank_by_rule(frame, row.rank, bound, [(one.name, one.tensor.rank) for one in operands])
    result = Tensor(
        placement=placement,
        dtype=dtype_with_origin(frame, dtype, short_name(row.name), node, bound),
        rank=rank if complete else rank.lower_bound,
        grad=False if is_countable(dtype) else _requires_grad(frame, row, operands),
        memory=None if row.name.endswith("empty") else Storage(),
        empty_sizes=empty_sizes_of_result(frame, row, bound, operands, node) if complete else None,
    )
    shared = row.view or row.may_view
    if shared and first is not None:
        result = replace(
            result,
            memory=view_storage(frame, row, first, node),
            pending=first.pending,
            pinned=first.pinned if row.view else None,
        )
    if first is not None and _only_changes_form(row) and isinstance(operands[0].place.node, cst.Call):
        # A call's result that comes straight from a factory still does in another form; a named tensor may be used
        # elsewhere too.
        result = replace(result, fresh=first.fresh)
    if row.factory or (row.device.startswith("kwarg") and not row.assumed):
        result = _as_factory_result(frame, row, bound, result, node)
    return result


def _as_factory_result(frame: Frame, row: Row, bound: BoundArguments, result: Tensor, node: cst.CSTNode) -> Tensor:
    """Return the tensor made by a factory such as `torch.zeros`, with the properties that the call's arguments set.

    They are `requires_grad` and `pin_memory`. The tensor is a leaf of the autograd graph and knows the factory call.
    """
    requires = bound.get("requires_grad")
    wanted = requires[0].value if requires else Const(False)
    grad = bool(wanted.value) if isinstance(wanted, Const) else None
    step = next(
        (leaf.placing_step for _, leaf in placement_cases(result.placement) if leaf.placing_step is not None), None
    )
    pinned = bound.get("pin_memory")
    if pinned and pinned[0].value == Const(True):
        report_pinned_accelerator(frame, Operand("result", frame.place(node), result), "pin_memory=True", node)
    report_refused_dtype(frame, result.placement, result.dtype, node)
    return replace(
        result,
        grad=grad,
        leaf=True,
        fresh=FactoryOrigin(
            OriginKind.RANDOM if row.random else OriginKind.NOTHING, step, extent_of_result(frame, row, bound, node)
        )
        if step is not None
        else None,
        pinned=pinned[0].value == Const(True) if pinned else None,
        memory=new_pinned_storage(frame) if pinned and pinned[0].value == Const(True) else result.memory,
    )


def report_refused_dtype(frame: Frame, placement: Placement, dtype: Dtype, node: cst.CSTNode) -> None:
    """Report a dtype that the backend of a tensor's device does not have; a tensor whose dtype is unknown has none."""
    if dtype.name not in ALL_REFUSED:
        return
    for when, case in placement_cases(placement, frame.state.path_condition):
        if isinstance(case.device, KnownDevice) and dtype.name in REFUSED_DTYPES.get(case.device.type, ()):
            frame.emit(RefusedOnBackend(frame.event_context(node), dtype, case, when))


def _result_placement(
    frame: Frame, row: Row, bound: BoundArguments, operands: list[Operand], node: cst.CSTNode, *, complete: bool
) -> Placement:
    """Return the placement of an operation's result by the device rule of its semantics table row.

    Unknown where the rule depends on a condition on the arguments that cannot be decided.
    """
    rule = select_by_condition(bound, row.device_if, row.device) if complete or not row.device_if else None
    placement = _placement_by_rule(frame, row, rule or "unknown", bound, operands, node, complete=complete)
    if row.assumed and "device" not in row.params:
        # The program cannot pass a device to this callable, so it is not at fault for using the default one.
        return map_cases(
            placement, lambda leaf: replace(leaf, basis=Basis.ASSUMED) if leaf.basis is Basis.DEFAULT else leaf
        )
    return placement


def _placement_by_rule(
    frame: Frame,
    row: Row,
    rule: str,
    bound: BoundArguments,
    operands: list[Operand],
    node: cst.CSTNode,
    *,
    complete: bool,
) -> Placement:
    """Return the result placement of an operation that one device rule of its semantics table row gives.

    Such rules are `group` (the common device of the operands), `arg:NAME` or `kwarg` (the `device=` argument).
    """
    kind, _, argument = rule.partition(":")
    match kind:
        case "own":
            return object_placement(frame, bound["self"][0].value) if bound.get("self") else UNKNOWN_PLACEMENT
        case "new":
            return CHOSEN_PLACEMENT
        case "data":
            return dataset_placement(frame, bound, argument, node)
        case "group":
            own = [one.tensor for one in operands if one.of_module is not None]
            shared = [one.tensor for one in operands if one.name in row.same]
            return meet_of_placements([*own, *shared] or [one.tensor for one in operands])
        case "arg":
            return _operand_placement(operands, argument)
        case "host":
            return PlacementCase(
                device_from_string("cpu"),
                Basis.DEFAULT,
                frame.step(StepKind.CREATED, f"made on the host by `{short_name(row.name)}`", node),
            )
        case "kwarg" | "kwarg-or":
            given = bound.get("device")
            name = short_name(row.name)
            if given is not None and given[0].value != NONE:
                step = frame.step(StepKind.CREATED, f"created by `{name}`", node)
                return requested_placement(frame, given[0].value, given[0].node, step)
            if not complete:
                return UNKNOWN_PLACEMENT
            others = [bound[other][0].value for other in argument.split(",") if bound.get(other)]
            if kind == "kwarg" or (others and all(isinstance(other, (Const, Number)) for other in others)):
                return default_placement(frame, name, node)
            return _operand_placement(operands, argument)
    return UNKNOWN_PLACEMENT


def _operand_placement(operands: Sequence[Operand], names: str) -> Placement:
    """Return the placement of the first operand of a call among the named ones (`a,b`); unknown if there is none."""
    return next((one.tensor.placement for one in operands_named(operands, names)), UNKNOWN_PLACEMENT)


def meet_of_placements(tensors: Sequence[Tensor]) -> Placement:
    """Return the placement of the result of an operation on several tensors, given that the operation did not fail.

    All tensors are then on one device. It is taken from the tensor about whose device most is known. 0-dim tensors do
    not count beside others, because they may be on another device. Beside an accelerator tensor, one that unknown code
    has computed from host tensors makes the result unknown.
    """
    return without_failed_cases(_shared_placement(tensors), [one.placement for one in tensors])


def _shared_placement(tensors: Sequence[Tensor]) -> Placement:
    """Return the placement that several tensors share, whatever has failed before."""
    if not tensors:
        return UNKNOWN_PLACEMENT
    large = [one for one in tensors if one.rank is not Rank.ZERO] or list(tensors)
    unknown = [one for one in large if is_unknown_placement(one.placement)]
    known = [one for one in large if not is_unknown_placement(one.placement)]
    if not known:
        return PERHAPS_ON_HOST if all(one.placement == PERHAPS_ON_HOST for one in unknown) else UNKNOWN_PLACEMENT
    best = min(known, key=lambda one: sharing_preference(one.placement))
    if unknown and not best.rank.is_dimensioned and _is_host(best.placement):
        return UNKNOWN_PLACEMENT
    if any(one.placement == PERHAPS_ON_HOST for one in unknown) and not _is_host(best.placement):
        # Either the operation fails, or the unknown code has moved its result: the program does not tell which.
        return UNKNOWN_PLACEMENT
    if isinstance(best.placement, PlacementCase):
        if len(known) == 1 or not is_accelerator(best.placement.device):
            return best.placement
        return where_nothing_failed(best.placement, [one.placement for one in known])
    return reduce(meet_placements, [best.placement, *(one.placement for one in known)])


def where_nothing_failed(shared: Placement, others: Iterable[Placement]) -> Placement:
    """Return the placement of the result of an operation on a device that its tensors share, if it did not fail.

    Beside an accelerator tensor, a tensor that a condition has put on the host makes the operation fail: nothing is
    made under that condition.
    """
    chosen = next((one for one in others if isinstance(one, ConditionalPlacement)), None)
    if chosen is None or not isinstance(shared, PlacementCase) or not is_accelerator(shared.device):
        return shared
    return map_cases(chosen, lambda leaf: NO_PLACEMENT if is_host(leaf.device) else shared)


def _is_host(placement: Placement) -> bool:
    """Return whether a placement is the host on every path."""
    return isinstance(placement, PlacementCase) and is_host(placement.device)


def _requires_grad(frame: Frame, row: Row, operands: list[Operand]) -> bool | None:
    """Return whether an operation's result requires a gradient; None when it is not known."""
    if row.grad in ("none", "detach") or not frame.state.torch_state.grad:
        return False
    grads = {one.tensor.grad for one in operands}
    if True in grads:
        return True
    return False if grads == {False} else None


def element_tensor(frame: Frame, tensor: Tensor) -> Tensor:
    """Return the tensor that is one element of a tensor along its first dimension."""
    settled = frame.resolve(tensor)
    return replace(
        computed_tensor(settled),
        pending=settled.pending,
        memory=settled.memory and settled.memory.part(object()),
        rank=settled.rank.fewer,
    )
