"""Device conflicts: operands of one operation on different devices, and the classification of conflicts by cause."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.availability import is_available
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
from devlint.domain.path_conditions import PathCondition, closure, conjoin, entails
from devlint.domain.placement import (
    Basis,
    Place,
    Placement,
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
from devlint.interpreter.objects.plain_attributes import attribute_name
from devlint.interpreter.operations.calls_into_other_files import at_call_from_given_file
from devlint.interpreter.operations.consumers import is_moved_afterwards
from devlint.interpreter.operations.device_expressions import device_expressions_at
from devlint.interpreter.operations.satisfiability import jointly_satisfiable
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.device_facts import has_contradictory_types, is_device_tested, is_no_tensor
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
    """Return the conflict of the first pair of operands on different devices, classified by cause; None without one.

    `scalars` is how many 0-dim host operands the operation accepts beside other devices ("alone": any, where all
    operands are 0-dim; "only:NAME": that one; "many": any). `index` names the operands that may stay on the host,
    `written` those that the operation writes to and never accepts from the host, and `gathering` those that say what to
    take out of another operand and must be on its device.
    """
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
            misplaced, reference = (other, one) if is_host(other.case.device) else (one, other)
            if misplaced.name in index:
                continue
            if reference.name in index and not (
                is_host(misplaced.case.device) and _is_index_on_chosen_device(reference)
            ):
                continue
            indexed = reference.name in index or (reference.name in gathering and misplaced.tensor.cell is None)
            conflict = _classify_conflict(frame, node, operation, misplaced, reference, when, indexed=indexed)
            if conflict is not None:
                if isinstance(conflict, OperandConflict):
                    conflict = at_call_from_given_file(frame, conflict)
                return replace(
                    conflict, device_expressions=device_expressions_at(_frame_containing(frame, conflict.context.place))
                )
    return None


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
            if leaf_left.device == leaf_right.device or not jointly_satisfiable(
                path_condition, needed_left, needed_right
            ):
                continue
            if conjoin(conjoin(path_condition, needed_left) or frozenset(), needed_right) is None:
                continue
            needed = needed_left | needed_right
            if has_contradictory_types(path_condition | needed):
                continue
            if any(
                _is_unavailable(path_condition | needed, leaf.device) or is_no_tensor(leaf, path_condition | needed)
                for leaf in (leaf_left, leaf_right)
            ):
                continue
            yield needed, replace(left, case=leaf_left), replace(right, case=leaf_right)


def _is_unavailable(path_condition: PathCondition, device: Device) -> bool:
    """Return whether a device is an accelerator that the path condition says is not available.

    A conflict with such a device is no finding, because the program has failed before.
    """
    return (
        isinstance(device, KnownDevice)
        and device.type != HOST
        and entails(path_condition, is_available(device.type)) is False
    )


def _classify_conflict(
    frame: Frame,
    node: cst.CSTNode,
    operation: str,
    misplaced: Operand,
    reference: Operand,
    when: PathCondition,
    *,
    indexed: bool,
) -> DeviceConflict | None:
    """Return the conflict event of two operands by cause; None when they may be on one device.

    `misplaced` is the operand on the host, where one is; `indexed` is whether one operand indexes the other. The causes
    in order: a cached tensor, a plain container or attribute of a module, an index, a module's input, a factory that
    ignores the device, a tensor made when its file is loaded, and the operation itself.
    """
    stored = _storing_step(misplaced.case)
    if stored is not None and _is_replaced_from_outside(frame, stored):
        return None
    relation = relate_devices(misplaced.case.device, reference.case.device)
    generic = (
        relation is DeviceRelation.UNDECIDED
        # Outside of modules, code that moves nothing but the operation's result means all operands to be on the host.
        and (
            frame.scope.method_of_module
            or _is_forgotten_batch(misplaced, reference)
            or not is_moved_afterwards(frame, node)
        )
        and is_left_behind(frame, misplaced, reference, when)
    )
    if relation is not DeviceRelation.DIFFERENT and not generic:
        return None
    context = frame.event_context(node)
    provenance = misplaced.case.provenance
    cached = newest_step(provenance, StepKind.CACHED)
    if cached is not None:
        return CacheConflict(context, operation, misplaced, reference, when, cached=cached)
    for one, other in ((misplaced, reference), (reference, misplaced)):
        kept = newest_step(one.case.provenance, StepKind.KEPT)
        if kept is not None and _is_unmoved_since(kept, one.case):
            return PlainContainerConflict(context, operation, one, other, when, kept=kept)
    if stored is not None and _is_unmoved_since(stored, misplaced.case):
        return PlainAttributeConflict(context, operation, misplaced, reference, when, stored=stored)
    if indexed and not generic:
        return IndexConflict(context, operation, misplaced, reference, when)
    created = misplaced.case.placing_step
    input_conflict = _module_input_conflict(frame, context, operation, misplaced, reference, when)
    if input_conflict is not None and created is not None and _is_created_outside_modules(created):
        return input_conflict
    if (
        created is not None
        and misplaced.case.basis is Basis.DEFAULT
        and _could_take_device(created, reference.case.device, frame)
    ):
        return FactoryConflict(context, operation, misplaced, reference, when, created=created)
    if generic or _is_class_attribute(created):
        import_time = _import_time_creation(frame, created)
        if import_time is not None:
            return CacheConflict(context, operation, misplaced, reference, when, cached=import_time)
    if generic and not _is_forgotten_batch(misplaced, reference):
        return None
    return input_conflict or OperandConflict(context, operation, misplaced, reference, when)


def _is_replaced_from_outside(frame: Frame, stored: Step) -> bool:
    """Return whether code outside of the class may replace the tensor that a step stored in an attribute."""
    module = frame.analysis.program.by_filename(stored.place.filename)
    inside = stored.kind is StepKind.STORED_INSIDE
    return module is not None and frame.analysis.outside_moves.may_replace(
        attribute_name(stored.place), module, inside=inside
    )


def _storing_step(leaf: PlacementCase) -> Step | None:
    """Return the newest provenance step that stored a tensor in a plain attribute of a module; None without one.

    Storing in a container that such an attribute holds counts too.
    """
    return next(
        (one for one in history(leaf.provenance) if one.kind in (StepKind.STORED, StepKind.STORED_INSIDE)), None
    )


def _import_time_creation(frame: Frame, created: Step | None) -> Step | None:
    """Return the provenance step of a tensor made at the top level of a file or class and used in a module's method.

    The step's message says that the tensor is made once, when the file is loaded. None for a tensor made elsewhere, and
    where no method of a module is running.
    """
    if created is None or created.scope is None or not created.scope.entry:
        return None
    if not any(one.method_of_module for one in _scopes_up_to_module(frame.scope)):
        return None
    return replace(created, message="made when its file is loaded, once for all")


def _is_class_attribute(created: Step | None) -> bool:
    """Return whether a class body created a tensor, which all objects of the class then share."""
    scope = created.scope if created is not None else None
    return scope is not None and scope.entry and scope.name not in ("", "module")


def _is_created_outside_modules(created: Step) -> bool:
    """Return whether a call outside of any module's code created a tensor.

    If such a tensor goes into a module, it is an input that the calling code has to move.
    """
    scope = created.scope
    if scope is None or any(one.method_of_module or one.construction for one in _scopes_up_to_module(scope)):
        return False
    return isinstance(created.place.node, cst.Call)


def is_left_behind(frame: Frame, misplaced: Operand, reference: Operand, when: PathCondition) -> bool:
    """Return whether one of two operands is a host tensor that a program for any device has failed to move.

    The other operand is on a device that the caller chooses. The host tensor must be a factory's default, a stored
    plain attribute that the program never moves, or a loader's where the program has moved the other operand, and the
    path must not have tested the device. Code that moves nothing must be meant for any device. Data that the program
    itself passes to a constructor is on no device of the caller's choice.
    """
    device = reference.case.device
    if not isinstance(device, DeviceSymbol) or reference.case.basis is not Basis.CALLER:
        return False
    forgotten = _is_forgotten_batch(misplaced, reference)
    if misplaced.of_module is None and not misplaced.tensor.rank.is_dimensioned and not forgotten:
        return False
    stored = _storing_step(misplaced.case)
    if not is_host(misplaced.case.device):
        return False
    if misplaced.case.basis is not Basis.DEFAULT and stored is None and not forgotten:
        return False
    if is_moved_conditionally(misplaced.tensor.placement, misplaced.case) or _is_data_of_program(frame, device.origin):
        return False
    path_condition = closure(frame.state.path_condition | when)
    return (forgotten or in_generic_code(frame)) and not is_device_tested(path_condition, device.origin)


def _is_forgotten_batch(misplaced: Operand, reference: Operand) -> bool:
    """Return whether an operand is data of a loader, which the program has not moved as it has moved the other one."""
    came, moved = misplaced.case.placing_step, reference.case.placing_step
    if came is None or came.assumption is None or moved is None:
        return False
    return came.assumption.kind is AssumptionKind.LOADER and moved.kind is StepKind.MOVED


def _is_data_of_program(frame: Frame, origin: Hashable) -> bool:
    """Return whether a device is that of an element of data that the program itself passes to a constructor."""
    match origin:
        case ("element", ("param", FunctionInfo() as info, str(name))):
            return info.owner is not None and frame.analysis.constructor_data.is_made(info, name)
        case ("element" | "item", inner, *_):
            return _is_data_of_program(frame, inner)
    return False


def is_moved_conditionally(placement: Placement, case: PlacementCase) -> bool:
    """Return whether the program moves a tensor on some paths only, or creates it on another device there.

    `case` is one case of the tensor's placement. Such a program decides by itself when a move is needed.
    """
    for _, leaf in placement_cases(placement):
        if leaf.device == UNKNOWN_DEVICE or is_accelerator(leaf.device):
            return True
        step = leaf.placing_step
        while step is not None and step.source is not None:
            step = step.source
            if step is case.placing_step:
                return True
    return False


def in_generic_code(frame: Frame) -> bool:
    """Return whether the running function, or a function on the call stack, is meant for any device.

    Methods of modules count as such.
    """
    scope: Scope | None = frame.scope
    while scope is not None:
        if scope.method_of_module or scope.any_device:
            return True
        scope = scope.caller
    return False


def _is_unmoved_since(stored: Step, leaf: PlacementCase) -> bool:
    """Return whether a tensor has been neither moved nor created anew since a given provenance step stored it."""
    step = leaf.provenance
    while step is not None and step is not stored:
        if step.kind in (StepKind.MOVED, StepKind.CREATED):
            return False
        step = step.previous
    return step is stored


def _could_take_device(created: Step, device: Device, frame: Frame) -> bool:
    """Return whether the function that created a tensor had a module or an argument with a device to use."""
    scope = created.scope
    if created.kind is not StepKind.CREATED or scope is None or scope.entry:
        return False
    if scope.construction:
        return False
    for one in _scopes_up_to_module(scope):
        if isinstance(device, DeviceSymbol) and (one.method_of_module or one.any_device):
            return True
        for placement in one.argument_placements:
            for _, leaf in placement_cases(placement, frame.state.path_condition):
                if relate_devices(leaf.device, device) is DeviceRelation.SAME or (
                    isinstance(device, DeviceSymbol) and isinstance(leaf.device, DeviceSymbol)
                ):
                    return True
    return False


def _scopes_up_to_module(scope: Scope) -> Iterator[Scope]:
    """Return a function's scope and those of its callers, up to the nearest method of a module.

    If no method of a module is among the callers, return the function's scope alone.
    """
    scopes = [scope]
    while not scopes[-1].method_of_module and scopes[-1].caller is not None:
        scopes.append(scopes[-1].caller)
    return iter(scopes if scopes[-1].method_of_module else [scope])


def _module_input_conflict(
    frame: Frame, context: EventContext, operation: str, misplaced: Operand, reference: Operand, when: PathCondition
) -> ModuleInputConflict | None:
    """Return the conflict event for a module's parameters and an input of the module that is on another device.

    None for other operands. The conflict is located at the outermost module call that received the input, if there is
    one.
    """
    for weights, given in ((misplaced, reference), (reference, misplaced)):
        if weights.of_module is None and weights.tensor.cell is None:
            continue
        call = _entry_call(frame, context, weights, given, when)
        if call is not None:
            return ModuleInputConflict(
                replace(context, place=call.place), operation, misplaced, reference, when, module_call=call
            )
    for weights in (misplaced, reference):
        if weights.of_module is not None:
            return ModuleInputConflict(context, operation, misplaced, reference, when)
    return None


def _entry_call(
    frame: Frame, context: EventContext, weights: Operand, given: Operand, when: PathCondition
) -> CallOnStack | None:
    """Return the outermost module call on the call stack that received an input from another device.

    Calls of modules that have a parameter on the input's device are passed over. None without such a call.
    """
    arrived = given.case.placing_step
    if arrived is None or arrived is weights.case.placing_step:
        return None
    for call in context.calls:
        if call.is_module and arrived in call.causes and not _has_parameter_on(frame, call, given.case.device, when):
            return call
    return None


def _has_parameter_on(frame: Frame, call: CallOnStack, device: Device, when: PathCondition) -> bool:
    """Return whether the module that a call on the call stack calls has a parameter on a given device.

    If so, a device conflict inside the call is not one of the module as a whole.
    """
    return call.receiver is not None and any(
        relate_devices(leaf.device, device) is DeviceRelation.SAME
        for _, tensor in module_tensors(frame, call.receiver)
        for _, leaf in placement_cases(frame.resolve(tensor).placement, frame.state.path_condition | when)
    )
