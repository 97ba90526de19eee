"""Tensors that meet on two devices: which pairs clash, and what the clash is to be blamed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import libcst as cst

from devlint.domain.device import (
    HOST,
    UNKNOWN_DEVICE,
    Device,
    DeviceRelation,
    DeviceSymbol,
    KnownDevice,
    is_accelerator,
    is_host,
    relate_devices,
)
from devlint.domain.path_conditions import Atom, Conjunction, Literal, PathCondition, closure, conjoin
from devlint.domain.placement import (
    Basis,
    Place,
    PlacementCase,
    Scope,
    Step,
    StepKind,
    history,
    newest_step,
    placement_cases,
)
from devlint.domain.value import Rank
from devlint.interpreter.objects.module_state import module_tensors
from devlint.interpreter.operations.device_expressions import device_expressions_at
from devlint.interpreter.operations.satisfiability import jointly_satisfiable
from devlint.interpreter.state.device_facts import has_contradictory_types
from devlint.interpreter.state.events import (
    CacheConflict,
    CallOnStack,
    DeviceConflict,
    EventContext,
    FactoryConflict,
    IndexConflict,
    ModuleInputConflict,
    Operand,
    OperandConflict,
    PlainAttributeConflict,
    PlainContainerConflict,
)
from devlint.interpreter.state.frame import Frame


def find_device_conflict(
    frame: Frame,
    node: cst.CSTNode,
    operation: str,
    operands: Sequence[Operand],
    scalars: int | str = 0,
    index: frozenset[str] = frozenset(),
    written: frozenset[str] = frozenset(),
    gathering: frozenset[str] = frozenset(),
) -> DeviceConflict | None:
    """The first pair of operands that cannot meet, blamed on its cause; None when nothing is known to be wrong.

    `scalars` is how many 0-dim host operands the operation lets through ("alone": any, where all operands are 0-dim;
    "only:NAME": that one);
    `index` names the operands that may stay on the host, `written` those that it writes to and never lets through,
    `gathering` those that say what to take out of another, and must be where it is.
    """
    small = [] if scalars == 0 else [one for one in operands if _may_be_scalar(one) and one.name not in written]
    if scalars == "alone" and not _may_all_be_scalars(operands):
        small = []
    for left, right in combinations(operands, 2):
        if left.name in index and right.name in index:
            continue
        for when, one, other in _meetings(frame, left, right):
            exempt = _exempt(small, scalars, frame.state.path_condition | when)
            if _is_exempt(one, exempt) or _is_exempt(other, exempt):
                continue
            host, guest = (other, one) if is_host(other.leaf.device) else (one, other)
            if host.name in index:
                continue
            if guest.name in index and not (is_host(host.leaf.device) and _is_placed(guest)):
                continue
            indexed = guest.name in index or (guest.name in gathering and host.tensor.cell is None)
            clash = _blame(frame, node, operation, host, guest, when, indexed=indexed)
            if clash is not None:
                return replace(clash, wordings=device_expressions_at(_standing_at(frame, clash.context.place)))
    return None


def _standing_at(frame: Frame, place: Place) -> Frame:
    """The code in which a place lies: the one being run, or a caller of it whose call stands there."""
    around = frame
    while around.caller is not None:
        around, call = around.caller
        if call is place.node:
            return around
    return frame


def _may_be_scalar(operand: Operand) -> bool:
    return not operand.tensor.rank.is_dimensioned and operand.of_module is None


def _may_all_be_scalars(operands: Sequence[Operand]) -> bool:
    """Whether some are 0-dim, and nothing speaks against the others being so too."""
    return all(map(_may_be_scalar, operands)) and any(one.tensor.rank is Rank.ZERO for one in operands)


def _exempt(small: Sequence[Operand], scalars: int | str, path_condition: PathCondition) -> Sequence[Operand]:
    """Those of the operands that may be 0-dim that are let through from the host where `path_condition` hold."""
    if isinstance(scalars, str):
        return [one for one in small if scalars in ("many", "alone", f"only:{one.name}")]
    surely = [one for one in small if one.tensor.rank is Rank.ZERO and _may_be_on_host(one, path_condition)]
    return small if len(surely) <= scalars else []


def _is_placed(index: Operand) -> bool:
    """Whether an index is on an accelerator, or where the module or its inputs are: a caller's own may be anywhere."""
    device, memory = index.leaf.device, index.tensor.memory
    return is_accelerator(device) or (
        isinstance(device, DeviceSymbol) and (memory is None or memory.root != device.origin)
    )


def _may_be_on_host(operand: Operand, path_condition: PathCondition) -> bool:
    return any(is_host(leaf.device) for _, leaf in placement_cases(operand.tensor.placement, path_condition))


def _is_exempt(operand: Operand, exempt: Sequence[Operand]) -> bool:
    return is_host(operand.leaf.device) and any(
        one.place == operand.place and one.name == operand.name for one in exempt
    )


def _meetings(frame: Frame, left: Operand, right: Operand) -> Iterator[tuple[PathCondition, Operand, Operand]]:
    """The combinations of both placements' leaves that can occur together in different places; none where the same
    conditions put both in the same places."""
    path_condition = frame.state.path_condition
    if left.tensor.placement == right.tensor.placement:
        return
    for needed_left, leaf_left in placement_cases(left.tensor.placement, path_condition):
        for needed_right, leaf_right in placement_cases(right.tensor.placement, path_condition):
            if leaf_left.device == leaf_right.device or not jointly_satisfiable(
                path_condition, needed_left, needed_right
            ):
                continue
            if conjoin(conjoin(path_condition, needed_left) or frozenset(), needed_right) is None:
                continue
            needed = needed_left | needed_right
            if has_contradictory_types(path_condition | needed):
                continue
            if _impossible(path_condition | needed, leaf_left.device) or _impossible(
                path_condition | needed, leaf_right.device
            ):
                continue
            yield needed, replace(left, leaf=leaf_left), replace(right, leaf=leaf_right)


def _impossible(path_condition: PathCondition, device: Device) -> bool:
    """Whether a tensor is on an accelerator that the path says is not there: the program has failed before."""
    return isinstance(device, KnownDevice) and any(
        not test.holds and getattr(test.formula, "key", None) == ("available", device.type) for test in path_condition
    )


def _blame(
    frame: Frame,
    node: cst.CSTNode,
    operation: str,
    host: Operand,
    guest: Operand,
    when: PathCondition,
    *,
    indexed: bool,
) -> DeviceConflict | None:
    relation = relate_devices(host.leaf.device, guest.leaf.device)
    generic = relation is DeviceRelation.UNDECIDED and _is_left_behind(frame, host, guest, when)
    if relation is not DeviceRelation.DIFFERENT and not generic:
        return None
    context = frame.event_context(node)
    trace = host.leaf.provenance
    cached = newest_step(trace, StepKind.CACHED)
    if cached is not None:
        return CacheConflict(context, operation, host, guest, when, cached=cached)
    for one, other in ((host, guest), (guest, host)):
        kept = newest_step(one.leaf.provenance, StepKind.KEPT)
        if kept is not None and _stayed_behind(kept, one.leaf):
            return PlainContainerConflict(context, operation, one, other, when, kept=kept)
    stored = _stored(host.leaf)
    if stored is not None and _stayed_behind(stored, host.leaf):
        return PlainAttributeConflict(context, operation, host, guest, when, stored=stored)
    if indexed and not generic:
        return IndexConflict(context, operation, host, guest, when)
    created = host.leaf.placing_step
    of_call = _input_clash(frame, context, operation, host, guest, when)
    if of_call is not None and created is not None and _is_made_outside(created):
        return of_call
    if (
        created is not None
        and host.leaf.basis is Basis.DEFAULT
        and _meant_for_any_device(created, guest.leaf.device, frame)
    ):
        return FactoryConflict(context, operation, host, guest, when, created=created)
    if generic or _is_class_attribute(created):
        loaded = _made_when_loaded(frame, created)
        if loaded is not None:
            return CacheConflict(context, operation, host, guest, when, cached=loaded)
    if generic:
        return None
    return of_call or OperandConflict(context, operation, host, guest, when)


def _stored(leaf: PlacementCase) -> Step | None:
    """The newest step that kept a tensor as a plain attribute of a module, or in one."""
    return next(
        (one for one in history(leaf.provenance) if one.kind in (StepKind.STORED, StepKind.STORED_INSIDE)), None
    )


def _made_when_loaded(frame: Frame, created: Step | None) -> Step | None:
    """The creation of a tensor at a file's or a class's top level that a module computes with, as a step of caching."""
    if created is None or created.scope is None or not created.scope.entry:
        return None
    if not any(one.method_of_module for one in _reached_from(frame.scope)):
        return None
    return replace(created, message="made when its file is loaded, once for all")


def _is_class_attribute(created: Step | None) -> bool:
    """Whether a tensor was made by the body of a class, for all its objects."""
    scope = created.scope if created is not None else None
    return scope is not None and scope.entry and scope.name not in ("", "module")


def _is_made_outside(created: Step) -> bool:
    """Whether a tensor is made outside of modules: what goes into one is then an input, to be brought to it."""
    scope = created.scope
    if scope is None or any(one.method_of_module or one.construction for one in _reached_from(scope)):
        return False
    return isinstance(created.place.node, cst.Call)


def _is_left_behind(frame: Frame, host: Operand, guest: Operand, when: PathCondition) -> bool:
    """Whether a host tensor meets something whose device the caller chooses, in code meant for any device."""
    device = guest.leaf.device
    if not isinstance(device, DeviceSymbol) or guest.leaf.basis is not Basis.CALLER:
        return False
    if host.of_module is None and not host.tensor.rank.is_dimensioned:
        return False
    stored = _stored(host.leaf)
    if not is_host(host.leaf.device):
        return False
    if host.leaf.basis is not Basis.DEFAULT and stored is None:
        return False
    if _is_brought_along(host):
        return False
    path_condition = closure(frame.state.path_condition | when)
    return in_generic_code(frame) and not any(
        _tells_of_host(test) or _concerns(test, device.origin) for test in path_condition
    )


def _is_brought_along(host: Operand) -> bool:
    """Whether the program itself moves the tensor, or makes it elsewhere, under a condition: it has its own way to know
    when that is needed."""
    for _, leaf in placement_cases(host.tensor.placement):
        if leaf.device == UNKNOWN_DEVICE or is_accelerator(leaf.device):
            return True
        step = leaf.placing_step
        while step is not None and step.source is not None:
            step = step.source
            if step is host.leaf.placing_step:
                return True
    return False


def in_generic_code(frame: Frame) -> bool:
    """Whether the code being run is meant for any device."""
    scope: Scope | None = frame.scope
    while scope is not None:
        if scope.method_of_module or scope.any_device:
            return True
        scope = scope.caller
    return False


def _tells_of_host(test: Literal) -> bool:
    """Whether the path is one without an accelerator: there is none, or what the caller gave is not on it."""
    match test.formula:
        case Atom(key=("available", _)):
            return not test.holds
        case Atom(key=("device", _, str(type_))):
            return test.holds is (type_ == HOST)
    return False


def _concerns(test: Literal, origin: object) -> bool:
    """Whether the path has asked what the caller's device is: it may then be one on which it is the host."""
    match test.formula:
        case Conjunction(tests=tests):
            return any(_concerns(one, origin) for one in tests)
        case Atom(key=("device", asked, _)):
            return asked == origin
        case Atom(key=("same device" | "same type", frozenset() as asked, *_)):
            return origin in asked
    return False


def _stayed_behind(stored: Step, leaf: PlacementCase) -> bool:
    """Whether the tensor was put into the attribute where it is now: nothing has moved it since."""
    step = leaf.provenance
    while step is not None and step is not stored:
        if step.kind in (StepKind.MOVED, StepKind.CREATED):
            return False
        step = step.previous
    return step is stored


def _meant_for_any_device(created: Step, device: Device, frame: Frame) -> bool:
    """Whether the factory's function had something in its hands to take the device from."""
    scope = created.scope
    if created.kind is not StepKind.CREATED or scope is None or scope.entry:
        return False
    if scope.construction:
        return False
    for one in _reached_from(scope):
        if isinstance(device, DeviceSymbol) and (one.method_of_module or one.any_device):
            return True
        for placement in one.given:
            for _, leaf in placement_cases(placement, frame.state.path_condition):
                if relate_devices(leaf.device, device) is DeviceRelation.SAME or (
                    isinstance(device, DeviceSymbol) and isinstance(leaf.device, DeviceSymbol)
                ):
                    return True
    return False


def _reached_from(scope: Scope) -> Iterator[Scope]:
    """The code itself and, where a method of a module called it for its own purposes, the code up to that method."""
    line = [scope]
    while not line[-1].method_of_module and line[-1].caller is not None:
        line.append(line[-1].caller)
    return iter(line if line[-1].method_of_module else [scope])


def _input_clash(
    frame: Frame, context: EventContext, operation: str, host: Operand, guest: Operand, when: PathCondition
) -> ModuleInputConflict | None:
    """The clash seen as a module called with an input from elsewhere, at the outermost call the input came through."""
    for weights, given in ((host, guest), (guest, host)):
        if weights.of_module is None and weights.tensor.cell is None:
            continue
        call = _entrance(frame, context, weights, given, when)
        if call is not None:
            return ModuleInputConflict(
                replace(context, place=call.place), operation, host, guest, when, module_call=call
            )
    for weights in (host, guest):
        if weights.of_module is not None:
            return ModuleInputConflict(context, operation, host, guest, when)
    return None


def _entrance(
    frame: Frame, context: EventContext, weights: Operand, given: Operand, when: PathCondition
) -> CallOnStack | None:
    """The outermost module call through which the input came, of those modules that are not partly where it is."""
    arrived = given.leaf.placing_step
    if arrived is None or arrived is weights.leaf.placing_step:
        return None
    for call in context.calls:
        if call.is_module and arrived in call.causes and not _has_a_part_at(frame, call, given.leaf.device, when):
            return call
    return None


def _has_a_part_at(frame: Frame, call: CallOnStack, device: Device, when: PathCondition) -> bool:
    """Whether a parameter of the module that is called lies on the device: the module is then not the one astray."""
    return call.receiver is not None and any(
        relate_devices(leaf.device, device) is DeviceRelation.SAME
        for _, tensor in module_tensors(frame, call.receiver)
        for _, leaf in placement_cases(frame.resolve(tensor).placement, frame.state.path_condition | when)
    )
