"""Context managers: the torch settings that a `with` block or a decorator such as `@torch.no_grad()` changes."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import reduce
from typing import Final

import libcst as cst

from devlint.domain.autocast import UNKNOWN_AUTOCAST
from devlint.domain.device import ANY_ACCELERATOR
from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import join
from devlint.domain.objects import HeapObject, Instance, Sequence, join_objects
from devlint.domain.placement import UNKNOWN_PLACEMENT, PlacementCase, StepKind
from devlint.domain.value import (
    NONE,
    UNKNOWN,
    AllocationSite,
    ConditionalValue,
    DeviceValue,
    LibraryName,
    ProgramDefinition,
    Ref,
    Value,
)
from devlint.interpreter.objects.class_hierarchy import definition_frame, find_special_method
from devlint.interpreter.operations.autocast_regions import autocast_regions, opened_regions
from devlint.interpreter.operations.device_arguments import CURRENT_DEVICE, written_placement
from devlint.interpreter.operations.synchronization import is_with_block_work
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import TorchState
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.suspended_generators import SuspendedGenerator, TorchStateChanges
from devlint.syntax.tree_walk import dotted_name

GRAD_OFF: Final = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
"""The names of torch's context managers under which operations do not record gradients."""
GRAD_ON: Final = frozenset({"torch.enable_grad", "torch.autograd.enable_grad", "torch.set_grad_enabled"})
"""The names of torch's context managers under which operations record gradients, or may do so."""
DECORATORS: Final = frozenset({"no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "autocast"})
"""The last parts of the names of torch's context managers that are also used as decorators of functions."""

WEAKEST_SETTINGS: Final[TorchStateChanges] = {
    "default_device": UNKNOWN_PLACEMENT,
    "default_dtype": UNKNOWN_DTYPE,
    "grad": False,
    "autocast": UNKNOWN_AUTOCAST,
    "current_device": ANY_ACCELERATOR,
}
"""The value assumed for each torch setting when several contexts are possible and they disagree on the setting."""


def enter_context(frame: Frame, value: Value, node: cst.BaseExpression) -> tuple[Value, TorchStateChanges]:
    """Return the value that `with ... as name` binds, and the settings of torch that the context manager changes."""
    match value:
        case DeviceValue():
            return value, {"default_device": written_placement(frame, value, node, None)}
        case ConditionalValue(test=test, yes=yes, no=no):
            (first, changes), (second, others) = enter_context(frame, yes, node), enter_context(frame, no, node)
            joined = _join_changes(changes, others)
            around = frame.state.torch_state.autocast
            if test is not None and "autocast" in joined:
                sides = ((changes.get("autocast"), test), (others.get("autocast"), ~test))
                opened = [one for inside, literal in sides for one in opened_regions(inside, around, literal)]
                joined = {**joined, "autocast": (*opened, *around)}
            return join(first, second, test), joined
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence) and thing.kind == "generator":
                suspended = frame.analysis.suspended_generators.get(address)
                changes = dict(suspended.changes) if suspended is not None else {}
                if suspended is not None:
                    frame.analysis.suspended_generators[address] = _resume_at_yield(frame, suspended)
                return thing.any, changes | {"autocast": UNKNOWN_AUTOCAST} if _is_autocast(frame, node) else changes
            if isinstance(thing, Instance) and isinstance(thing.cls, str):
                chosen = thing.attributes.get(CURRENT_DEVICE)
                if isinstance(chosen, DeviceValue) and isinstance(chosen.placement, PlacementCase):
                    return value, {"current_device": chosen.placement.device}
                if thing.cls == "torch.autocast":
                    around = frame.state.torch_state.autocast
                    return value, {"autocast": (*autocast_regions(frame, thing), *around)}
                return value, _library_changes(thing.cls)
            function = find_special_method(frame, value, "__enter__") or find_special_method(frame, value, "__aenter__")
            if function is not None:
                return frame.call_function(function, value, Arguments(node)), {}
            return (value if thing is not None else UNKNOWN), {}
    possible: dict[str, object] = {"autocast": UNKNOWN_AUTOCAST} if _may_be_autocast(frame, node) else {}
    if _may_stop_autograd(frame, node):
        possible["grad"] = False
    if _may_choose_device(node):
        possible["default_device"] = UNKNOWN_PLACEMENT
    return UNKNOWN, possible


def exit_context(frame: Frame, value: Value, node: cst.BaseExpression) -> None:
    """Run the end of a context: a generator's code after its `yield`, or the `__exit__` of a class of the program."""
    suspended = frame.analysis.suspended_generators.get(value.address) if isinstance(value, Ref) else None
    if suspended is not None:
        _run_after_yield(frame, suspended)
    function = find_special_method(frame, value, "__exit__") or find_special_method(frame, value, "__aexit__")
    if function is not None and frame.state.live:
        frame.call_function(function, value, Arguments(node, [Argument(NONE, node)] * 3))


def _resume_at_yield(frame: Frame, suspended: SuspendedGenerator) -> SuspendedGenerator:
    """Reset the heap objects that a generator changes after its `yield` to their state at the `yield`.

    Return the generator's record, with the number of accelerator operations launched so far.
    """
    for address, (paused, _) in suspended.effects.items():
        frame.put(address, paused)
    return replace(suspended, launches=frame.state.torch_state.launches)


def _run_after_yield(frame: Frame, suspended: SuspendedGenerator) -> None:
    """Apply the effects that a generator used as a context manager has after its `yield`.

    An object that the `with` block has changed is joined with the object as it was at the generator's end, since the
    generator may or may not change it after the block. Timings that the generator takes are reported if the block has
    launched accelerator work that nothing waits for.
    """
    for address, (paused, done) in suspended.effects.items():
        now = frame.get(address)
        frame.put(address, done if now is None or now == paused else join_objects(now, done, None))
    running = frame.state.torch_state.unsynchronized
    work = running and running.after(suspended.launches)
    if work is not None:
        for timing in suspended.block_timings:
            frame.emit(replace(timing, work=work.main.step))
    if suspended.waits:
        frame.synchronize()


def suspend_at_yield(frame: Frame, node: cst.Yield) -> None:
    """Record the abstract state at the `yield` of a generator that may be a context manager.

    The `with` block, which runs at the `yield`, is assumed to launch accelerator work.
    """
    frame.states_at_yield.append((frame.state.torch_state, frame.state.heap.fork()))
    frame.launch(frame.step(StepKind.PASSED, "the block of the `with` statement is run", node))


def suspended_generator(frame: Frame, before: TorchState) -> SuspendedGenerator:
    """Return the record of a generator, just run to its end, as it was when suspended at its `yield`.

    The record holds the settings of torch that the generator has changed at its `yield`, and the effects that it has
    afterwards. For a context manager, the `with` block runs between the two. `before` is the torch state at the
    generator's start.
    """
    during, after = frame.states_at_yield, frame.state
    changes = [
        {name: getattr(one, name) for name in WEAKEST_SETTINGS if getattr(one, name) != getattr(before, name)}
        for one, _ in during
    ]
    effects: dict[AllocationSite, tuple[HeapObject, HeapObject]] = {}
    if len(during) == 1:
        heap = during[0][1]
        for address, thing in after.heap.written_since(heap):
            paused = heap.get(address)
            if paused is not None and paused != thing:
                effects[address] = paused, thing
    timings, frame.analysis.block_timings = tuple(frame.analysis.block_timings), []
    end = after.torch_state
    if end.unsynchronized is not None and is_with_block_work(end.unsynchronized.newest.step):
        after.torch_state = replace(
            end, launches=before.launches, unsynchronized=before.unsynchronized, last_wait=before.last_wait
        )
    waits = all(end.epoch > one.epoch for one, _ in during)
    return SuspendedGenerator(reduce(_join_changes, changes) if changes else {}, effects, timings, waits)


def decorator_torch_state(frame: Frame, info: FunctionInfo) -> TorchStateChanges:
    """Return the torch settings that a function's decorators (such as `@torch.no_grad()`) change for its body.

    Only the changed settings are returned, by name.
    """
    changes: dict[str, object] = {}
    if not info.decorator_names & DECORATORS:
        return changes
    home = definition_frame(frame, info)
    for decorator in info.decorators:
        target = decorator.func if isinstance(decorator, cst.Call) else decorator
        last = (dotted_name(target) or "").rpartition(".")[2]
        if last not in DECORATORS:
            continue
        if isinstance(decorator, cst.Call):
            entered = enter_context(home, home.evaluate(decorator), decorator)[1]
            changes.update(entered)
            if "autocast" in entered:
                opened = opened_regions(entered["autocast"], home.state.torch_state.autocast)
                changes["autocast"] = (*opened, *frame.state.torch_state.autocast)
        else:
            changes.update(_library_changes(f"torch.{last}"))
    return changes


def _library_changes(cls: str) -> TorchStateChanges:
    """Return the settings of torch that a torch context manager changes (such as `grad` for torch.no_grad).

    The context manager is given by its dotted class name. The result is empty for any other class.
    """
    if cls in GRAD_OFF:
        return {"grad": False}
    if cls in GRAD_ON:
        return {"grad": True}
    if cls == "torch.autocast":
        return {"autocast": UNKNOWN_AUTOCAST}
    return {}


def _join_changes(left: TorchStateChanges, right: TorchStateChanges) -> TorchStateChanges:
    """Return the settings of torch after one of two contexts is entered, given the settings that each changes.

    A setting in which the two differ takes its weaker value, the one that promises less.
    """
    return {
        name: left[name] if name in left and name in right and left[name] == right[name] else WEAKEST_SETTINGS[name]
        for name in {**left, **right}
    }


def _may_be_autocast(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether a context manager that devlint does not know may be an autocast context.

    One from a library may only be if its name contains `autocast`; any other may be.
    """
    name = dotted_name(node.func if isinstance(node, cst.Call) else node)
    root = frame.lookup(name.partition(".")[0]) if name is not None else None
    return not isinstance(root, LibraryName) or "autocast" in (name or "")


KNOWN_CONTEXTS: Final = frozenset({"builtins", "torch", "tqdm", "rich", *sys.stdlib_module_names})
"""The libraries whose contexts leave autograd as it is, but for those of torch that are modelled."""


def _may_stop_autograd(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether a context manager that devlint does not know may be one under which autograd does not record."""
    name = dotted_name(node.func if isinstance(node, cst.Call) else node)
    root = frame.lookup(name.partition(".")[0]) if name is not None else None
    return not isinstance(root, LibraryName) or root.name.partition(".")[0] not in KNOWN_CONTEXTS


DEVICE_CHOOSING_CONTEXT: Final = re.compile(
    r"(^|_)(init|on|default)_(tensor|module|device|empty_weights)|device$", re.IGNORECASE
)
"""The pattern of the names of contexts in which a library chooses the device of new tensors: `fabric.init_tensor()`."""


def _may_choose_device(node: cst.BaseExpression) -> bool:
    """Return whether a context manager that devlint does not know may set the default device, judging by its name."""
    name = dotted_name(node.func if isinstance(node, cst.Call) else node) or ""
    return DEVICE_CHOOSING_CONTEXT.search(name.rpartition(".")[2]) is not None


def _is_autocast(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether an expression calls a function of the program whose source mentions autocast.

    It is asked for context managers that are written as generators.
    """
    callee = frame.evaluate(node.func) if isinstance(node, cst.Call) else None
    definition = callee.definition if isinstance(callee, ProgramDefinition) else None
    return isinstance(definition, FunctionInfo) and "autocast" in definition.unit.mentions
