"""The lattice of placements: join, meet, and restriction to a path condition.

The join is what holds after either of two paths. The meet is what two tensors that share one device tell about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from devlint.domain.device import DeviceSymbol, KnownDevice, is_accelerator, is_host
from devlint.domain.path_conditions import Literal, PathCondition, entails
from devlint.domain.placement import (
    NO_PLACEMENT,
    UNKNOWN_PLACEMENT,
    Basis,
    ConditionalPlacement,
    Placement,
    PlacementCase,
)

MAX_CONDITIONS: Final = 4
"""The largest number of conditions that one placement may depend on.

Choices of a device in real programs nest two deep (cuda, mps, cpu); more is noise.
"""


def restrict(placement: Placement, path_condition: PathCondition) -> Placement:
    """Return a placement without the cases that a path condition excludes."""
    if isinstance(placement, PlacementCase) or not path_condition:
        return placement
    known = entails(path_condition, placement.test)
    if known is not None:
        return restrict(placement.yes if known else placement.no, path_condition)
    yes, no = restrict(placement.yes, path_condition), restrict(placement.no, path_condition)
    if yes is placement.yes and no is placement.no:
        return placement
    return join_under(placement.test, yes, no)


def count_conditions(placement: Placement) -> int:
    """Return the number of conditions that a placement depends on."""
    return (
        0
        if isinstance(placement, PlacementCase)
        else 1 + count_conditions(placement.yes) + count_conditions(placement.no)
    )


def join_under(test: Literal | None, yes: Placement, no: Placement) -> Placement:
    """Return the placement that is `yes` where the condition `test` holds and `no` where it does not.

    The result is `join_placements(yes, no)` where `test` is None, or where it would depend on too many conditions
    (MAX_CONDITIONS).
    """
    if yes == no:
        return yes
    if test is None:
        return join_placements(yes, no)
    if not test.holds:
        yes, no = no, yes
    if isinstance(yes, ConditionalPlacement):
        yes = restrict(yes, frozenset({Literal(test.formula)}))
    if isinstance(no, ConditionalPlacement):
        no = restrict(no, frozenset({Literal(test.formula, False)}))
    if yes == no:
        return yes
    if count_conditions(yes) + count_conditions(no) >= MAX_CONDITIONS:
        return join_placements(yes, no)
    return ConditionalPlacement(test.formula, yes, no)


def failed_where(placement: Placement, when: PathCondition) -> Placement:
    """Return the placement of a tensor that is never made where all of some conditions hold."""
    failed: Placement = NO_PLACEMENT
    for test in sorted(when, key=str):
        failed = join_under(test, failed, placement)
    return failed


def without_failed_cases(placement: Placement, sources: Iterable[Placement]) -> Placement:
    """Return the placement of a tensor made of others: where one of those is never made, neither is this one."""
    for one in sources:
        if _may_have_failed(one):
            placement = _with_failures(placement, one)
    return placement


def _may_have_failed(placement: Placement) -> bool:
    """Return whether a tensor is never made in some case."""
    if isinstance(placement, PlacementCase):
        return placement == NO_PLACEMENT
    return _may_have_failed(placement.yes) or _may_have_failed(placement.no)


def _with_failures(placement: Placement, source: Placement) -> Placement:
    """Return a placement in which the cases are none in which a tensor that it needs is never made."""
    if isinstance(source, PlacementCase):
        return NO_PLACEMENT if source == NO_PLACEMENT else placement
    yes, no = (
        _with_failures(restrict(placement, frozenset({test})), side)
        for test, side in ((source.test, source.yes), (~source.test, source.no))
    )
    return join_under(source.test, yes, no)


def join_placements(left: Placement, right: Placement) -> Placement:
    """Return what is known after either of two paths: the common device, with the weaker basis, or unknown.

    The placement is unknown when the devices differ. A placement under a condition is joined case by case with one
    under the same condition or under none.
    """
    if left == right:
        return left
    if isinstance(left, PlacementCase) and isinstance(right, PlacementCase) and left.device == right.device:
        return left if left.basis is not Basis.DEFAULT else right
    for one, other in ((left, right), (right, left)):
        if isinstance(other, ConditionalPlacement) and one in (other.yes, other.no):
            # Where the condition selects the same placement, both paths have it.
            yes, no = join_placements(one, other.yes), join_placements(one, other.no)
            return yes if yes == no else ConditionalPlacement(other.formula, yes, no)
    formulas = {one.formula for one in (left, right) if isinstance(one, ConditionalPlacement)}
    if len(formulas) != 1:
        return _of_module_beside_argument(left, right)
    (formula,) = formulas
    yes, no = (
        join_placements(*(restrict(one, frozenset({Literal(formula, holds)})) for one in (left, right)))
        for holds in (True, False)
    )
    return yes if yes == no else ConditionalPlacement(formula, yes, no)


def _of_module_beside_argument(left: Placement, right: Placement) -> Placement:
    """Return the device of the module itself where the other path has that of another argument; unknown otherwise.

    A loop over layers, which may run none of them, replaces an argument by what the layers make of it: the argument is
    where the layers are.
    """
    owners = [_argument_of(left), _argument_of(right)]
    if None in owners or owners.count("self") != 1:
        return UNKNOWN_PLACEMENT
    return left if owners[0] == "self" else right


def _argument_of(placement: Placement) -> str | None:
    """Return the name of the argument on whose device something is, "self" for a method's object; None for others."""
    match placement:
        case PlacementCase(device=DeviceSymbol(origin=("param", _, str(name))), basis=Basis.CALLER):
            return name
    return None


def meet_placements(left: Placement, right: Placement) -> Placement:
    """Return the placement that two tensors on one common device share, chosen from both tensors' placements.

    Where the placements depend on conditions, the choice is made separately for each condition's two outcomes.
    """
    if left == right:
        return left
    for choice in (left, right):
        if isinstance(choice, ConditionalPlacement):
            holds, fails = frozenset({choice.test}), frozenset({~choice.test})
            yes = meet_placements(restrict(left, holds), restrict(right, holds))
            no = meet_placements(restrict(left, fails), restrict(right, fails))
            return join_under(choice.test, yes, no)
    return min(left, right, key=sharing_preference)


def sharing_preference(placement: Placement) -> int:
    """Return the rank of a placement as a description of a device that several tensors share; the lowest is preferred.

    In order: no device, as the operation is not reached; an accelerator of a known type, any other accelerator, a
    conditional placement, a symbolic or unknown device, the host.
    """
    if isinstance(placement, ConditionalPlacement):
        return 2
    if placement == NO_PLACEMENT:
        return -1
    if is_accelerator(placement.device):
        return 0 if isinstance(placement.device, KnownDevice) and placement.device.is_named else 1
    return 4 if is_host(placement.device) else 3
