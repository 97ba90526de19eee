"""What a `with` statement's context, or the same thing as a decorator, changes for the operations inside."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from typing import Final

import libcst as cst

from devlint.domain.dtype import UNKNOWN_DTYPE
from devlint.domain.join import join
from devlint.domain.objects import HeapObject, Instance, Sequence, join_objects
from devlint.domain.placement import UNKNOWN_PLACEMENT, StepKind
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
from devlint.interpreter.operations.device_arguments import requested_placement
from devlint.interpreter.operations.synchronization import is_with_block_work
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import TorchState
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.frame import Frame
from devlint.interpreter.state.suspended_generators import SuspendedGenerator, TorchStateChanges
from devlint.syntax.tree_walk import dotted_name

GRAD_OFF: Final = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})
GRAD_ON: Final = frozenset({"torch.enable_grad", "torch.autograd.enable_grad", "torch.set_grad_enabled"})
DECORATORS: Final = frozenset({"no_grad", "inference_mode", "enable_grad", "set_grad_enabled", "autocast"})
"""The last names of contexts that people put over functions."""

WEAKER: Final[TorchStateChanges] = {
    "default_device": UNKNOWN_PLACEMENT,
    "default_dtype": UNKNOWN_DTYPE,
    "grad": False,
    "autocast": True,
    "current_device_known": False,
}
"""What is claimed of each setting where it is not known which of several contexts holds."""


def enter_context(frame: Frame, value: Value, node: cst.BaseExpression) -> tuple[Value, TorchStateChanges]:
    """The value `as` binds, and the changes to what surrounds the operations."""

    match value:
        case DeviceValue():
            return value, {"default_device": requested_placement(frame, value, node, None)}
        case ConditionalValue(test=test, yes=yes, no=no):
            (first, changes), (second, others) = enter_context(frame, yes, node), enter_context(frame, no, node)
            return join(first, second, test), _either(changes, others)
        case Ref(address=address):
            thing = frame.get(address)
            if isinstance(thing, Sequence) and thing.kind == "generator":
                pause = frame.analysis.suspended_generators.get(address)
                changes = dict(pause.changes) if pause is not None else {}
                if pause is not None:
                    frame.analysis.suspended_generators[address] = _begin(frame, pause)
                return thing.any, changes | {"autocast": True} if _is_autocast(frame, node) else changes
            if isinstance(thing, Instance) and isinstance(thing.cls, str):
                return value, _changes_of(thing.cls)
            function = find_special_method(frame, value, "__enter__") or find_special_method(frame, value, "__aenter__")
            if function is not None:
                return frame.call_function(function, value, Arguments(node)), {}
            return (value if thing is not None else UNKNOWN), {}
    changes = {"autocast": True} if _may_be_autocast(frame, node) else {}
    return UNKNOWN, changes | {"default_device": UNKNOWN_PLACEMENT} if _may_choose_device(node) else changes


def exit_context(frame: Frame, value: Value, node: cst.BaseExpression) -> None:
    """What an object of the program does when its `with` block ends."""

    pause = frame.analysis.suspended_generators.get(value.address) if isinstance(value, Ref) else None
    if pause is not None:
        _finish(frame, pause)
    function = find_special_method(frame, value, "__exit__") or find_special_method(frame, value, "__aexit__")
    if function is not None and frame.state.live:
        frame.call_function(function, value, Arguments(node, [Argument(NONE, node)] * 3))


def _begin(frame: Frame, pause: SuspendedGenerator) -> SuspendedGenerator:
    """Go back from the generator's end to its `yield`."""
    for address, (paused, _) in pause.effects.items():
        frame.put(address, paused)
    return replace(pause, launches=frame.state.torch_state.launches)


def _finish(frame: Frame, pause: SuspendedGenerator) -> None:
    """Do what comes after the `yield`: to what the block has changed meanwhile, it may be done or not."""
    for address, (paused, done) in pause.effects.items():
        now = frame.get(address)
        frame.put(address, done if now is None or now == paused else join_objects(now, done, None))
    work = frame.state.torch_state.unsynchronized
    if work is not None and work[0] > pause.launches:
        for timing in pause.block_timings:
            frame.emit(replace(timing, work=work[1]))
    if pause.waits:
        frame.synchronize()


def suspend_at_yield(frame: Frame, node: cst.Yield) -> None:
    """A context manager hands over to the `with` block, which may give the accelerator work."""
    frame.states_at_yield.append((frame.state.torch_state, frame.state.heap.fork()))
    frame.launch(frame.step(StepKind.PASSED, "the block of the `with` statement is run", node))


def suspended_generator(frame: Frame, before: TorchState) -> SuspendedGenerator:
    """What a generator has changed where it yields, and does afterwards: a context manager's `with` block runs
    between."""
    during, after = frame.states_at_yield, frame.state
    changes = [
        {name: getattr(one, name) for name in WEAKER if getattr(one, name) != getattr(before, name)}
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
    if end.unsynchronized is not None and is_with_block_work(end.unsynchronized[1]):
        after.torch_state = replace(
            end, launches=before.launches, unsynchronized=before.unsynchronized, waited=before.waited
        )
    waits = all(end.epoch > one.epoch for one, _ in during)
    return SuspendedGenerator(reduce(_either, changes) if changes else {}, effects, timings, waits)


def decorator_torch_state(frame: Frame, info: FunctionInfo) -> TorchStateChanges:
    """The changes for the body of a function that has contexts for decorators."""
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
            changes.update(enter_context(home, home.evaluate(decorator), decorator)[1])
        else:
            changes.update(_changes_of(f"torch.{last}"))
    return changes


def _changes_of(cls: str) -> TorchStateChanges:
    if cls in GRAD_OFF:
        return {"grad": False}
    if cls in GRAD_ON:
        return {"grad": True}
    if cls == "torch.autocast":
        return {"autocast": True}
    if cls == "torch.cuda.device":
        return {"current_device_known": False}
    return {}


def _either(left: TorchStateChanges, right: TorchStateChanges) -> TorchStateChanges:
    """What may have changed when it is not known which of two contexts it is: the weaker claim on each setting."""
    return {
        name: left[name] if name in left and name in right and left[name] == right[name] else WEAKER[name]
        for name in {**left, **right}
    }


def _may_be_autocast(frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether a context of which nothing is known may be autocast: one of a library only if it is called so."""
    name = dotted_name(node.func if isinstance(node, cst.Call) else node)
    root = frame.lookup(name.partition(".")[0]) if name is not None else None
    return not isinstance(root, LibraryName) or "autocast" in (name or "")


CHOOSING_DEVICE: Final = re.compile(
    r"(^|_)(init|on|default)_(tensor|module|device|empty_weights)|device$", re.IGNORECASE
)
"""What libraries call contexts in which tensors and modules are made where they belong: `fabric.init_tensor()`."""


def _may_choose_device(node: cst.BaseExpression) -> bool:
    """Whether a context of which nothing is known may say where factories put what they make."""
    name = dotted_name(node.func if isinstance(node, cst.Call) else node) or ""
    return CHOOSING_DEVICE.search(name.rpartition(".")[2]) is not None


def _is_autocast(frame: Frame, node: cst.BaseExpression) -> bool:
    """Whether a context manager of the program uses autocast."""
    callee = frame.evaluate(node.func) if isinstance(node, cst.Call) else None
    definition = callee.definition if isinstance(callee, ProgramDefinition) else None
    return isinstance(definition, FunctionInfo) and "autocast" in definition.unit.mentions
