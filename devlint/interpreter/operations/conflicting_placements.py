"""Pairs of placement cases of two operands that can occur together and are on different devices."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.domain.availability import is_available
from devlint.domain.device import HOST, Device, DeviceSymbol, KnownDevice, is_accelerator, is_host
from devlint.domain.path_conditions import Atom, Literal, PathCondition, assume, conjoin, entails
from devlint.domain.placement import Basis, PlacementCase, placement_cases
from devlint.domain.record import replace
from devlint.domain.value import owner_kind
from devlint.interpreter.objects.library_objects import COLLATED, MOVED_UNSEEN
from devlint.interpreter.operations.satisfiability import jointly_satisfiable
from devlint.interpreter.state.device_facts import has_contradictory_types, is_no_tensor
from devlint.interpreter.state.events import Operand
from devlint.interpreter.state.frame import Frame


def conflicting_cases(frame: Frame, left: Operand, right: Operand) -> Iterator[tuple[PathCondition, Operand, Operand]]:
    """Yield the pairs of placement cases of two operands that can occur together and are on different devices.

    A placement case is one device with the conditions under which the tensor is there. Each pair comes with the further
    conditions it needs and with the operands narrowed to their cases. Operands with equal placements have no such pair,
    because the same conditions put both on the same device.
    """
    path_condition = frame.state.path_condition
    if left.tensor.placement == right.tensor.placement:
        return
    for needed_left, leaf_left in placement_cases(left.tensor.placement, path_condition):
        for needed_right, leaf_right in placement_cases(right.tensor.placement, path_condition):
            if leaf_left.device == leaf_right.device:
                continue
            if conjoin(conjoin(path_condition, needed_left) or frozenset(), needed_right) is None:
                continue
            needed = needed_left | needed_right
            if has_contradictory_types(path_condition | needed) or any(map(_supposes_device, needed)):
                continue
            if any(
                _is_unavailable(path_condition | needed, leaf.device) or is_no_tensor(leaf, path_condition | needed)
                for leaf in (leaf_left, leaf_right)
            ):
                continue
            if not _hold_together(frame, needed_left, needed_right):
                continue
            yield needed, replace(left, case=leaf_left), replace(right, case=leaf_right)


def without_needless_conditions(
    frame: Frame, when: PathCondition, left: Operand, right: Operand
) -> tuple[PathCondition, Operand, Operand]:
    """Return a pair of conflicting cases of two operands without the conditions that the conflict does not need.

    A condition is not needed if the operands are on different devices where it fails as well: `device` is what the
    caller has asked for, or else the accelerator, and a loader's host batch is wrong beside both. The case that
    supposes less of the program is the one on the caller's device, if there is one. Host tensors that are no batches
    keep the conditions, which say where they come from.
    """
    if not any(one.case.basis is Basis.ASSUMED for one in (left, right)):
        return when, left, right
    for test in sorted(when, key=str):
        rest = when - {test}
        opposite = assume(frame.state.path_condition | rest, ~test)
        if opposite is None or _is_availability(test):
            continue
        pairs = [
            (one, other)
            for needed_left, one in placement_cases(left.tensor.placement, opposite)
            for needed_right, other in placement_cases(right.tensor.placement, opposite)
            if not any(_is_availability(each) and not each.holds for each in needed_left | needed_right)
        ]
        if pairs and all(_is_host_beside_other(one, other) for one, other in pairs):
            when = rest
            chosen = next((pair for pair in pairs if any(isinstance(one.device, DeviceSymbol) for one in pair)), None)
            if chosen is not None:
                left, right = replace(left, case=chosen[0]), replace(right, case=chosen[1])
    return when, left, right


def _is_host_beside_other(one: PlacementCase, other: PlacementCase) -> bool:
    """Return whether one of two cases is the host and the other an accelerator, or the caller's device."""
    host, reference = (one, other) if is_host(one.device) else (other, one)
    if not is_host(host.device) or host.basis is Basis.CALLER:
        return False
    is_chosen = isinstance(reference.device, DeviceSymbol) and reference.basis is Basis.CALLER
    return is_chosen or is_accelerator(reference.device)


def _is_availability(test: Literal) -> bool:
    """Return whether a condition only says that an accelerator is available."""
    match test.formula:
        case Atom(key=("available", _)):
            return True
    return False


def _hold_together(frame: Frame, left: PathCondition, right: PathCondition) -> bool:
    """Return whether the conditions of two operands' cases hold together on the current path.

    Most operations on a path meet the same two devices, so the answer is remembered.
    """
    known, path_condition = frame.analysis.jointly_satisfiable, frame.state.path_condition
    answer = known.get((path_condition, left, right))
    if answer is None:
        answer = known[path_condition, left, right] = jointly_satisfiable(path_condition, left, right)
    return answer


def _supposes_device(test: Literal) -> bool:
    """Return whether a condition asks for the device of data that the program itself has put where devlint cannot see.

    The data of a loader, and what a statement may have moved in place, is neither the caller's choice nor known: that
    it is on an accelerator, of all the values which `x.device != cpu` lets it have, does not follow from anything.
    """
    match test.formula:
        case Atom(key=("device", origin, _)):
            return owner_kind(origin) in (COLLATED, MOVED_UNSEEN)
    return False


def _is_unavailable(path_condition: PathCondition, device: Device) -> bool:
    """Return whether a device is an accelerator that the path condition says is not available.

    A conflict with such a device is no finding, because the program has failed before.
    """
    return (
        isinstance(device, KnownDevice)
        and device.type != HOST
        and entails(path_condition, is_available(device.type)) is False
    )
