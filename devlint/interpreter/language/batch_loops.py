"""Loops over batches: what a loop runs over is a loader of host tensors if the loop's body moves them to a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from devlint.domain.device import CPU
from devlint.domain.join import alternatives, opaque_part
from devlint.domain.path_conditions import Literal, conjunction
from devlint.domain.path_conditions import disjunction as either_holds
from devlint.domain.placement import UNKNOWN_PLACEMENT, Basis, Placement, PlacementCase
from devlint.domain.placement_lattice import join_under
from devlint.domain.record import replace
from devlint.domain.value import LibraryName, OpaqueData, Tuple, Unknown, Value
from devlint.interpreter.conditions.narrowing import condition_of, negate_condition
from devlint.interpreter.objects.evidence import has_module_members, looks_like_module, looks_like_tensor
from devlint.interpreter.objects.library_objects import COLLATED, loader_step
from devlint.interpreter.objects.module_containers import module_of_part
from devlint.interpreter.operations.device_arguments import may_name_accelerator
from devlint.interpreter.operations.dtype_arguments import is_called_dtype
from devlint.interpreter.program.batch_transfers import PartTransfer
from devlint.interpreter.program.liveness import varies_in_loop
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend, dotted_name, names_in_target


def as_batch(frame: Frame, loop: cst.For, element: Value, target: cst.BaseExpression) -> Value:
    """Return the element of a loop over something unknown; data of a loader where the loop's body tells that it is.

    A body that moves a part of its element to a device gets the element from the host, with all of its other parts. Of
    an element of which it only moves attributes, only these are known: it may be any object of the program.
    Where the body does that only under a condition, the element is on the host under this condition. What a function of
    the program collates may have parts that are no tensors and go to the model as they are.
    """
    match element, target:
        case Tuple(items=items), cst.Tuple(elements=targets) if len(items) == len(targets):
            pairs = zip(items, targets, strict=True)
            return replace(element, items=tuple(as_batch(frame, loop, one, each.value) for one, each in pairs))
    if not all(map(_may_be_of_loader, alternatives(element))) or _is_mapping_view(loop.iter):
        return element
    names = set(names_in_target(target))
    transfers = [
        one
        for one in frame.analysis.facts.transfers_of_parts(loop)
        if one.name in names and not (one.listed and not _is_used_as_data(frame, loop, one.name))
    ]
    if not transfers or any(looks_like_module(frame, cst.Name(one)) for one in names):
        return element
    placement = _placement_before(frame, loop, _conditions(frame, loop, transfers))
    if placement is None:
        return element
    moved = {one.attribute for one in transfers}
    batch = OpaqueData(placement, of_loader=True, origin=("batch", target))
    if None in moved:
        return batch
    parts = tuple((one, opaque_part(batch, one)) for one in sorted(filter(None, moved)))
    return replace(batch, placement=UNKNOWN_PLACEMENT, parts=parts)


def _is_used_as_data(frame: Frame, loop: cst.For, name: str) -> bool:
    """Return whether a name is used as a tensor, or a loop's body calls a module with it.

    A loop over what its head lists may move modules as well (`for net in [actor, critic]`), which move in place.
    """
    if looks_like_tensor(frame, cst.Name(name)):
        return True
    return any(
        isinstance(one, cst.Call)
        and any(dotted_name(each.value) == name for each in one.args)
        and has_module_members(frame, one.func)
        for one in descend(loop.body)
    )


def is_batch(element: Value) -> bool:
    """Return whether the element of a loop is a batch of a loader, perhaps with its number."""
    parts = element.items if isinstance(element, Tuple) else (element,)
    return any(isinstance(one, OpaqueData) and one.of_loader for one in parts)


def _may_be_of_loader(value: Value) -> bool:
    """Return whether a value may be a batch of an unknown loader.

    A part of a module is none, nor is what a function of the program collates.
    """
    if module_of_part(value) is not None:
        return False
    match value:
        case Unknown(origin=(kind, *_)):
            return kind != COLLATED
    return isinstance(value, Unknown)


def _placement_before(frame: Frame, loop: cst.For, tests: Iterable[Literal | bool]) -> Placement | None:
    """Return the host, where one of some conditions of transfers holds, as a placement; None without a condition."""
    host = PlacementCase(CPU, Basis.ASSUMED, loader_step(frame, "loader whose batches the loop moves", loop.iter))
    needed: Literal | None = None
    for test in tests:
        if not isinstance(test, Literal):
            return host
        needed = test if needed is None else either_holds(needed, test)
    return None if needed is None else join_under(needed, host, UNKNOWN_PLACEMENT)


def _conditions(frame: Frame, loop: cst.For, transfers: list[PartTransfer]) -> Iterator[Literal | bool]:
    """Yield the condition of each transfer to a device that may be an accelerator, True for one without a condition.

    None are yielded where the condition is not known, or never holds. The conditions are those before the loop: a test
    of what the loop itself changes tells nothing of its elements.
    """
    changed = frame.analysis.facts.names_changed(loop)
    # A method that the loop calls may change the object whose device it reads (`self.device`), but not the device.
    rebound = frame.analysis.facts.names_bound(loop) | {one for one in changed if "." in one}
    for one in transfers:
        if not _moves_to_device(frame, one.call, rebound):
            continue
        found: Literal | bool | None = True
        for test, answer in one.guards:
            found = _both(found, _condition(frame, test, changed, answer=answer))
        if found is not None and found is not False:
            yield found


def _condition(
    frame: Frame, test: cst.BaseExpression, changed: frozenset[str], *, answer: bool
) -> Literal | bool | None:
    """Return the condition that a test which a loop does not change has an answer; None for any other test."""
    for one in (test, *descend(test)):
        match one:
            case cst.Call(func=function, args=[]) if isinstance(frame.evaluate(function), LibraryName):
                continue
            case cst.Call() | cst.Await() | cst.NamedExpr() | cst.BaseComp():
                return None
            case cst.Name() | cst.Attribute() if dotted_name(one) in changed:
                return None
    condition = condition_of(frame, test)
    return condition if answer else negate_condition(condition)


def _both(left: Literal | bool | None, right: Literal | bool | None) -> Literal | bool | None:
    """Return the condition that two conditions hold; None if one of them is unknown."""
    if left is None or right is None:
        return None
    if isinstance(left, bool):
        return right if left else False
    return conjunction(left, right) if isinstance(right, Literal) else (left if right else False)


def _moves_to_device(frame: Frame, call: cst.Call, rebound: frozenset[str]) -> bool:
    """Return whether a transfer in a loop names a device that may be an accelerator, the same in every iteration.

    `rebound` are the names, and dotted names, that the loop binds or whose objects it changes in place.
    """
    match call.func:
        case cst.Attribute(attr=cst.Name(value=method)) if method != "to":
            return True
    given = next((one for one in call.args if one.keyword is None or one.keyword.value == "device"), None)
    if given is None or given.star or is_called_dtype(given.value) or varies_in_loop(given.value, rebound):
        return False
    return any(may_name_accelerator(one) for one in alternatives(frame.evaluate(given.value)))


def _is_mapping_view(node: cst.BaseExpression) -> bool:
    """Return whether a loop runs over the entries of a mapping, as those of a module's state are."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="items" | "values"))):
            return True
    return False
