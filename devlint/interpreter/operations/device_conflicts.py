"""Device conflicts: pairs of an operation's operands on two devices, which the operation does not accept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import libcst as cst

from devlint.domain.device import DeviceSymbol, is_accelerator, is_host
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import Basis, Place, PlacementCase, placement_cases
from devlint.domain.value import Rank
from devlint.interpreter.operations.calls_into_other_files import at_call_from_given_file
from devlint.interpreter.operations.conflict_causes import classify_conflict
from devlint.interpreter.operations.conflicting_placements import conflicting_cases, without_needless_conditions
from devlint.interpreter.operations.device_expressions import device_expressions_at
from devlint.interpreter.state.events import DeviceConflict, Operand, OperandConflict
from devlint.interpreter.state.frame import Frame


def find_device_conflicts(
    frame: Frame,
    node: cst.CSTNode,
    operation: str,
    operands: Sequence[Operand],
    scalars: int | str,
    index: frozenset[str],
    written: frozenset[str],
    gathering: frozenset[str],
) -> tuple[DeviceConflict, ...]:
    """Return the conflict of the first pair of operands on different devices, and those of further host operands.

    The further ones lie on the host beside the same operand: who moves the first one alone meets the next error. An
    operand that the operation takes as soon as there are fewer 0-dim ones is none of them. Each conflict is classified
    by its cause. `scalars` is how many 0-dim host operands the operation accepts beside other devices
    ("alone": any, where all operands are 0-dim; "only:NAME": that one; "many": any). `index` names the operands that
    may stay on the host, `written` those that the operation writes to and never accepts from the host, and `gathering`
    those that say what to take out of another operand and must be on its device.
    """
    found = _pair_conflicts(frame, node, operation, operands, scalars, index, written, gathering)
    first = next(found, None)
    if first is None:
        return ()
    told, further = {first.misplaced.place, first.reference.place}, []
    for one in found if is_host(first.misplaced.case.device) else ():
        beside_same = one.reference.place == first.reference.place and one.reference.name == first.reference.name
        wrong = is_host(one.misplaced.case.device) and (scalars == 0 or not _may_be_scalar(one.misplaced))
        if beside_same and wrong and one.misplaced.of_module is None and one.misplaced.place not in told:
            told.add(one.misplaced.place)
            further.append(replace(one, further=True))
    return (first, *further)


def find_device_conflict(
    frame: Frame,
    node: cst.CSTNode,
    operation: str,
    operands: Sequence[Operand],
    scalars: int | str = 0,
    index: frozenset[str] = frozenset(),
) -> DeviceConflict | None:
    """Return the conflict of the first pair of operands on different devices, classified by cause; None without one.

    `scalars` and `index` say what may stay on the host, as for `find_device_conflicts`.
    """
    return next(_pair_conflicts(frame, node, operation, operands, scalars, index), None)


def _pair_conflicts(
    frame: Frame,
    node: cst.CSTNode,
    operation: str,
    operands: Sequence[Operand],
    scalars: int | str,
    index: frozenset[str],
    written: frozenset[str] = frozenset(),
    gathering: frozenset[str] = frozenset(),
) -> Iterator[DeviceConflict]:
    """Yield the first conflict of each pair of operands that are on different devices."""
    possible_scalars = (
        [] if scalars == 0 else [one for one in operands if _may_be_scalar(one) and one.name not in written]
    )
    if scalars == "alone" and not _may_all_be_scalars(operands):
        possible_scalars = []
    for left, right in combinations(operands, 2):
        if left.name in index and right.name in index:
            continue
        for when, one, other in conflicting_cases(frame, left, right):
            exempt = _exempt_scalars(possible_scalars, scalars, frame.state.path_condition | when)
            if _is_exempt(one, exempt) or _is_exempt(other, exempt):
                continue
            when, one, other = without_needless_conditions(frame, when, one, other)
            misplaced, reference = (other, one) if is_host(other.case.device) else (one, other)
            if misplaced.name in index:
                continue
            if reference.name in index and not (
                is_host(misplaced.case.device) and _is_index_on_chosen_device(reference)
            ):
                continue
            indexed = reference.name in index or (reference.name in gathering and misplaced.tensor.cell is None)
            conflict = classify_conflict(frame, node, operation, misplaced, reference, when, indexed=indexed)
            if conflict is not None:
                if isinstance(conflict, OperandConflict):
                    conflict = at_call_from_given_file(frame, conflict)
                yield replace(
                    conflict, device_expressions=device_expressions_at(_frame_containing(frame, conflict.context.place))
                )
                break


def report_conflict_unless_scalar(
    frame: Frame, node: cst.CSTNode, operation: str, operands: Sequence[Operand], scalars: int | str
) -> None:
    """Report a host tensor beside an accelerator tensor that an operation only takes if the host tensor is 0-dim.

    That it is not is an assumption. It is made only of a tensor that the program has itself put on the host, and beside
    one of which the accelerator is known.
    """
    if scalars == 0 or len(operands) < 2:
        return
    for one in operands:
        if one.tensor.rank is not Rank.ANY or one.of_module is not None or not _is_put_on_host(one):
            continue
        supposed = replace(one, tensor=replace(one.tensor, rank=Rank.SOME))
        for other in operands:
            if other is one:
                continue
            conflict = find_device_conflict(frame, node, operation, [supposed, other], scalars)
            if isinstance(conflict, OperandConflict) and is_accelerator(conflict.reference.case.device):
                frame.emit(replace(conflict, supposes_dimension=True))
                return


def _is_put_on_host(operand: Operand) -> bool:
    """Return whether the program has put a tensor on the host by name, in any case."""
    placement = operand.tensor.placement
    return isinstance(placement, PlacementCase) and is_host(placement.device) and placement.basis is Basis.EXPLICIT


def _frame_containing(frame: Frame, place: Place) -> Frame:
    """Return the call frame whose code contains a source location.

    It is the caller's frame if the location is the call that led to the given frame, and else the given frame.
    """
    around = frame
    while around.caller is not None:
        around, call = around.caller
        if call is place.node:
            return around
    return frame


def _may_be_scalar(operand: Operand) -> bool:
    """Return whether an operand may be 0-dim; a module's parameters never are."""
    return not operand.tensor.rank.is_dimensioned and operand.of_module is None


def _may_all_be_scalars(operands: Sequence[Operand]) -> bool:
    """Return whether all operands may be 0-dim, and at least one of them certainly is."""
    return all(map(_may_be_scalar, operands)) and any(one.tensor.rank is Rank.ZERO for one in operands)


def _exempt_scalars(
    possible_scalars: Sequence[Operand], scalars: int | str, path_condition: PathCondition
) -> Sequence[Operand]:
    """Return the operands that an operation accepts from the host because they are, or may be, 0-dim.

    `path_condition` decides which of the operands may be on the host at all.
    """
    if isinstance(scalars, str):
        return [one for one in possible_scalars if scalars in ("many", "alone", f"only:{one.name}")]
    certain_scalars = [
        one for one in possible_scalars if one.tensor.rank is Rank.ZERO and _may_be_on_host(one, path_condition)
    ]
    return possible_scalars if len(certain_scalars) <= scalars else []


def _is_index_on_chosen_device(index: Operand) -> bool:
    """Return whether an index tensor is on an accelerator, or on the device of a module or of a module's inputs.

    False for an index that the caller passes, since it may be on any device.
    """
    device, memory = index.case.device, index.tensor.memory
    return is_accelerator(device) or (
        isinstance(device, DeviceSymbol) and (memory is None or memory.root != device.origin)
    )


def _may_be_on_host(operand: Operand, path_condition: PathCondition) -> bool:
    """Return whether an operand is on the host in one of its placement cases under a path condition."""
    return any(is_host(leaf.device) for _, leaf in placement_cases(operand.tensor.placement, path_condition))


def _is_exempt(operand: Operand, exempt: Sequence[Operand]) -> bool:
    """Return whether an operand is on the host and among the operands that an operation accepts from the host."""
    return is_host(operand.case.device) and any(
        one.place == operand.place and one.name == operand.name for one in exempt
    )
