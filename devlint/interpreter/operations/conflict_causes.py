"""Causes of device conflicts: a cached tensor, a plain attribute, a factory that ignores the device, and others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devlint.domain.device import Device, DeviceRelation, DeviceSymbol, relate_devices
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import Basis, PlacementCase, Scope, Step, StepKind, newest_step, placement_cases
from devlint.interpreter.objects.plain_attributes import attribute_name
from devlint.interpreter.operations.consumers import is_moved_afterwards
from devlint.interpreter.operations.left_behind_tensors import is_forgotten_batch, is_left_behind, storing_step
from devlint.interpreter.operations.module_input_conflicts import module_input_conflict
from devlint.interpreter.program.written_sizes import has_no_elements
from devlint.interpreter.state.events import (
    CacheConflict,
    DeviceConflict,
    FactoryConflict,
    IndexConflict,
    Operand,
    OperandConflict,
    PlainAttributeConflict,
    PlainContainerConflict,
)
from devlint.interpreter.state.frame import Frame


def classify_conflict(
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
    stored = storing_step(misplaced.case)
    if stored is not None and _is_replaced_from_outside(frame, stored):
        return None
    relation = relate_devices(misplaced.case.device, reference.case.device)
    generic = relation is DeviceRelation.UNDECIDED and _is_left_in_generic_code(frame, node, misplaced, reference, when)
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
        if _is_replaced_placeholder(misplaced):
            return None
        return PlainAttributeConflict(context, operation, misplaced, reference, when, stored=stored)
    if indexed and not generic:
        return IndexConflict(context, operation, misplaced, reference, when)
    created = misplaced.case.placing_step
    input_conflict = module_input_conflict(frame, context, operation, misplaced, reference, when)
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
    if generic and not is_forgotten_batch(misplaced, reference):
        return None
    return input_conflict or OperandConflict(context, operation, misplaced, reference, when)


def _is_left_in_generic_code(
    frame: Frame, node: cst.CSTNode, misplaced: Operand, reference: Operand, when: PathCondition
) -> bool:
    """Return whether a host operand was left behind by code that does not mean all operands to be on the host.

    Outside of modules, code that moves nothing but the operation's result means that.
    """
    return (
        frame.scope.method_of_module or is_forgotten_batch(misplaced, reference) or not is_moved_afterwards(frame, node)
    ) and is_left_behind(frame, misplaced, reference, when)


def _is_replaced_placeholder(operand: Operand) -> bool:
    """Return whether a tensor without elements is only in one case where an attribute has something else in others.

    Nobody computes with a placeholder where nothing has replaced it.
    """
    created = operand.case.placing_step
    return (
        not isinstance(operand.tensor.placement, PlacementCase)
        and created is not None
        and has_no_elements(created.place.node)
    )


def _is_replaced_from_outside(frame: Frame, stored: Step) -> bool:
    """Return whether code outside of the class may replace the tensor that a step stored in an attribute."""
    module = frame.analysis.program.by_filename(stored.place.filename)
    inside = stored.kind is StepKind.STORED_INSIDE
    return module is not None and frame.analysis.facts.outside_moves.may_replace(
        attribute_name(stored.place), module, inside=inside
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
