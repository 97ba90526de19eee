"""The tensor an operation makes: where it lies, whose memory it shares, whether autograd follows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Final

import libcst as cst

from devlint.domain.device import is_accelerator, is_host
from devlint.domain.path_conditions import Literal
from devlint.domain.placement import (
    UNKNOWN_PLACEMENT,
    Basis,
    ConditionalPlacement,
    Placement,
    PlacementCase,
    StepKind,
    is_unknown_placement,
    join_under,
    map_cases,
    placement_cases,
    restrict,
)
from devlint.domain.storage import Storage
from devlint.domain.value import NONE, Const, FactoryOrigin, Number, OriginKind, Rank, Tensor, computed_tensor
from devlint.interpreter.objects.library_objects import chosen_placement, dataset_placement, object_placement
from devlint.interpreter.operations.aliasing import view_storage
from devlint.interpreter.operations.device_arguments import default_placement, device_from_string, requested_placement
from devlint.interpreter.operations.operation_names import short_name
from devlint.interpreter.operations.result_dtypes import first_result_dtype, operands_named
from devlint.interpreter.operations.row_conditions import select_by_condition
from devlint.interpreter.operations.tensor_ranks import rank_by_rule
from devlint.interpreter.state.arguments import BoundArguments
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame
from devlint.semantics.table import Row

TRIANGLES: Final = ("triu", "tril")
"""How masks are cut out of what a factory makes."""

EXPANDING: Final = ("expand", "expand_as", "broadcast_to", "broadcast_tensors")
"""Views that see some memory several times: a copy of them is more than what was made."""


def _is_another_form(row: Row) -> bool:
    """Whether an operation only gives its operand's values another form."""
    name = row.name.rpartition(".")[2]
    return name in TRIANGLES or (bool(row.view or row.may_view) and name not in EXPANDING)


def result_tensor(
    frame: Frame,
    row: Row,
    bound: BoundArguments,
    operands: list[Operand],
    node: cst.CSTNode,
    *,
    mended: Placement | None,
    complete: bool,
) -> Tensor:
    """The tensor that comes out (the first, where several do)."""
    placement = mended if mended is not None else _placement(frame, row, bound, operands, node, complete=complete)
    first = operands[0].tensor if operands else None
    result = Tensor(
        placement=placement,
        dtype=first_result_dtype(frame, row, bound, operands),
        rank=rank_by_rule(frame, row.rank, bound, [(one.name, one.tensor.rank) for one in operands]),
        grad=_grad(frame, row, operands),
        memory=None if row.name.endswith("empty") else Storage(),
    )
    shared = row.view or row.may_view
    if shared and first is not None:
        result = replace(
            result,
            memory=view_storage(frame, row, first, node),
            pending=first.pending,
            pinned=first.pinned if row.view else None,
        )
    if first is not None and _is_another_form(row) and isinstance(operands[0].place.node, cst.Call):
        # What a factory has just made is as new in another form; what has a name may be used elsewhere too.
        result = replace(result, fresh=first.fresh)
    if row.factory or (row.device.startswith("kwarg") and not row.assumed):
        result = _made(frame, row, bound, result, node)
    return result


def _made(frame: Frame, row: Row, bound: BoundArguments, result: Tensor, node: cst.CSTNode) -> Tensor:
    """The marks of a tensor straight from its factory."""
    requires = bound.get("requires_grad")
    wanted = requires[0].value if requires else Const(False)
    grad = bool(wanted.value) if isinstance(wanted, Const) else None
    step = next(
        (leaf.placing_step for _, leaf in placement_cases(result.placement) if leaf.placing_step is not None), None
    )
    pinned = bound.get("pin_memory")
    return replace(
        result,
        grad=grad,
        leaf=True,
        fresh=FactoryOrigin(OriginKind.RANDOM if row.random else OriginKind.NOTHING, step)
        if step is not None
        else None,
        pinned=pinned[0].value == Const(True) if pinned else None,
    )


def _placement(
    frame: Frame, row: Row, bound: BoundArguments, operands: list[Operand], node: cst.CSTNode, *, complete: bool
) -> Placement:
    rule = select_by_condition(bound, row.device_if, row.device) if complete or not row.device_if else None
    placement = _by_rule(frame, row, rule or "unknown", bound, operands, node, complete=complete)
    if row.assumed and "device" not in row.params:
        # Who cannot be told a device is not to blame for taking the default one.
        return map_cases(
            placement, lambda leaf: replace(leaf, basis=Basis.ASSUMED) if leaf.basis is Basis.DEFAULT else leaf
        )
    return placement


def _by_rule(
    frame: Frame,
    row: Row,
    rule: str,
    bound: BoundArguments,
    operands: list[Operand],
    node: cst.CSTNode,
    *,
    complete: bool,
) -> Placement:
    kind, _, argument = rule.partition(":")
    match kind:
        case "own":
            return object_placement(frame, bound["self"][0].value) if bound.get("self") else UNKNOWN_PLACEMENT
        case "new":
            return chosen_placement(row.name)
        case "data":
            return dataset_placement(frame, bound, argument, node)
        case "group":
            own = [one.tensor for one in operands if one.of_module is not None]
            shared = [one.tensor for one in operands if one.name in row.same]
            return meet_of_placements([*own, *shared] or [one.tensor for one in operands])
        case "arg":
            return _placement_of(operands, argument)
        case "host":
            return PlacementCase(
                device_from_string("cpu"),
                Basis.DEFAULT,
                frame.step(StepKind.CREATED, f"made on the host by {short_name(row.name)}", node),
            )
        case "kwarg" | "kwarg-or":
            given = bound.get("device")
            name = short_name(row.name)
            if given is not None and given[0].value != NONE:
                step = frame.step(StepKind.CREATED, f"created by {name}", node)
                return requested_placement(frame, given[0].value, given[0].node, step)
            if not complete:
                return UNKNOWN_PLACEMENT
            others = [bound[other][0].value for other in argument.split(",") if bound.get(other)]
            if kind == "kwarg" or (others and all(isinstance(other, (Const, Number)) for other in others)):
                return default_placement(frame, name, node)
            return _placement_of(operands, argument)
    return UNKNOWN_PLACEMENT


def _placement_of(operands: Sequence[Operand], names: str) -> Placement:
    return next((one.tensor.placement for one in operands_named(operands, names)), UNKNOWN_PLACEMENT)


def meet_of_placements(tensors: Sequence[Tensor]) -> Placement:
    """Where the result of an operation on these tensors lies, given that it did not fail."""
    if not tensors:
        return UNKNOWN_PLACEMENT
    large = [one for one in tensors if one.rank is not Rank.ZERO] or list(tensors)
    unknown = [one for one in large if is_unknown_placement(one.placement)]
    known = [one for one in large if not is_unknown_placement(one.placement)]
    if not known:
        return UNKNOWN_PLACEMENT
    best = min(known, key=lambda one: _vagueness(one.placement))
    if unknown and not best.rank.is_dimensioned and _is_host(best.placement):
        return UNKNOWN_PLACEMENT
    if isinstance(best.placement, PlacementCase):
        return best.placement
    return reduce(meet_placements, [best.placement, *(one.placement for one in known)])


def meet_placements(left: Placement, right: Placement) -> Placement:
    """What two placements tell of the device they have in common, on each of the paths they depend on."""
    if left == right:
        return left
    for choice in (left, right):
        if isinstance(choice, ConditionalPlacement):
            holds, fails = Literal(choice.formula), Literal(choice.formula, False)
            yes = meet_placements(restrict(left, frozenset({holds})), restrict(right, frozenset({holds})))
            no = meet_placements(restrict(left, frozenset({fails})), restrict(right, frozenset({fails})))
            return join_under(holds, yes, no)
    return min(left, right, key=_vagueness)


def _vagueness(placement: Placement) -> int:
    """Which of several placements tells most of their common device: an accelerator, a condition, the caller's, the
    host."""
    if isinstance(placement, ConditionalPlacement):
        return 1
    if is_accelerator(placement.device):
        return 0
    return 3 if is_host(placement.device) else 2


def _is_host(placement: Placement) -> bool:
    return isinstance(placement, PlacementCase) and is_host(placement.device)


def _grad(frame: Frame, row: Row, operands: list[Operand]) -> bool | None:
    if row.grad in ("none", "detach") or not frame.state.torch_state.grad:
        return False
    grads = {one.tensor.grad for one in operands}
    if True in grads:
        return True
    return False if grads == {False} else None


def element_tensor(frame: Frame, tensor: Tensor) -> Tensor:
    """One element of a tensor along its first dimension."""
    settled = frame.resolve(tensor)
    return replace(
        computed_tensor(settled),
        pending=settled.pending,
        memory=settled.memory and settled.memory.part(object()),
        rank=settled.rank.fewer,
    )
