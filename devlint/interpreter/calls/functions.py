"""Running the program's own functions with their actual arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Sequence, join_all
from devlint.domain.path_conditions import branch_literal
from devlint.domain.placement import (
    Placement,
    Scope,
    Step,
    StepKind,
    extend_provenance,
    is_unknown_placement,
    placement_cases,
)
from devlint.domain.value import NONE, UNKNOWN, OpaqueData, ProgramDefinition, Ref, Tensor, Value
from devlint.interpreter.calls.decorators import decorated_function
from devlint.interpreter.calls.parameter_binding import bind_parameters
from devlint.interpreter.calls.private_callers import record_private_call
from devlint.interpreter.calls.recursion import assume_bottom, descends_into_argument, recursive_result
from devlint.interpreter.calls.summary_replay import call_inputs, record_summary, replay
from devlint.interpreter.language.context_managers import decorator_torch_state, suspended_generator
from devlint.interpreter.language.nonlocals import reload, write_back
from devlint.interpreter.objects.class_hierarchy import is_autograd_function_class, is_dataset_class
from devlint.interpreter.objects.contained_tensors import contained_tensors
from devlint.interpreter.objects.havoc import havoc
from devlint.interpreter.objects.module_state import is_module, placement_of_module
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import State, join_states
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.events import CallOnStack
from devlint.interpreter.state.frame import Frame

CACHING: Final = frozenset({"lru_cache", "cache"})


MAX_GIVEN: Final = 8
"""Tensors and modules among the arguments whose placement a scope remembers: enough to know whether one of them was
on the accelerator."""


def call_function(
    run: Frame,
    info: FunctionInfo,
    receiver: Value | None,
    arguments: Arguments,
    *,
    is_module: bool = False,
    entry: bool = False,
) -> Value:
    """Run a function with these arguments, and take over what it did to the heap.

    An `entry` is a call from outside the program: whatever decorators nobody knows do has then been done.
    """
    engine = run.engine
    if not engine.may_call(info, descends=descends_into_argument(run, info, arguments)):
        if assume_bottom(run, info, arguments):
            run.state.live = False
        else:
            havoc(run, arguments)
        return UNKNOWN
    with engine.contained(run.module.filename, info.name):
        if info.decorators and info not in engine.unwrapping:
            value = decorated_function(run, info)
            if value != ProgramDefinition(info) and not (entry and value == UNKNOWN):
                return _call_wrapper(run, info, value, receiver, arguments)
        return _enter(run, info, receiver, arguments, is_module=is_module, entry=entry)
    return UNKNOWN


def _call_wrapper(
    run: Frame, info: FunctionInfo, wrapper: Value, receiver: Value | None, arguments: Arguments
) -> Value:
    """Call what the decorators made of a function, which may call the function itself."""

    binds = (
        isinstance(wrapper, ProgramDefinition)
        and isinstance(wrapper.definition, FunctionInfo)
        and wrapper.receiver is None
    )
    if receiver is not None and binds:
        positional = [Argument(receiver, arguments.expression), *arguments.positional]
        arguments = replace(arguments, positional=positional)
    run.engine.unwrapping.add(info)
    try:
        return run.call(wrapper, arguments, arguments.node)
    finally:
        run.engine.unwrapping.discard(info)


def _enter(
    run: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments, *, is_module: bool, entry: bool
) -> Value:
    engine = run.engine
    names = bind_parameters(run, info, receiver, arguments)
    if not entry:
        record_private_call(run, info, names, receiver)
    call = info, engine.context(run.context, arguments.node)
    before = call_inputs(run, info, names)
    if before is not None:
        known = replay(run, call, before)
        if known is not None:
            return known
    data = [*contained_tensors(run, [value for value in names.values() if value != receiver])]
    inner = type(run)(
        engine,
        info.module,
        info.unit,
        scope_for(run, info, receiver, data),
        State(names, run.state.heap, run.state.facts, run.state.ambient),
        function=info,
        outer=info.closure,
        context=call[1],
        moment=run.moment,
        around=run.loop,
    )
    inner.caller = run, arguments.node
    if engine.observer is not None:
        for parameter in info.parameters:
            engine.observer.bind(inner, parameter.node, names[parameter.name])
    causes = frozenset(_causes(data))
    display = info.owner.name if is_module and info.owner is not None else info.name
    engine.calls.append(CallOnStack(run.place(arguments.node), display, causes, is_module, receiver))
    engine.active.append(info)
    engine.ran.add(info.node)
    if engine.constructing:
        engine.at_construction.add(info)
    foreign = write_back(run)
    try:
        value = run_body(inner)
    finally:
        engine.active.pop()
        engine.calls.pop()
    write_back(inner)
    reload(run, foreign)
    end = inner.state
    returns = end.live or bool(inner.exits)
    result = recursive_result(run, info, value if returns else None)
    if result is None:
        run.state.live = False
    if not returns or result is None:
        return UNKNOWN
    run.state.heap, run.state.ambient = end.heap, end.ambient
    if engine.symbolic and not engine.active:
        # What has let a constructor come to its end holds for the methods.
        run.state.facts |= end.facts
    if info.decorator_names & CACHING:
        result = _mark_cached(run, result, arguments.node)
    if before is not None:
        record_summary(run, call, before, result)
    return result


def run_body(run: Frame) -> Value:
    """Run a function's body; afterwards `run.state` is the state at its end, whichever way it came there."""
    info = run.function
    assert info is not None
    before = run.state.ambient
    with run.ambient(**decorator_torch_state(run, info)):
        if type(info.node) is cst.Lambda:
            value = run.evaluate(info.node.body)
            if run.state.live:
                run.exits.append((run.state, value))
        else:
            run.execute(info.node.body)
            if run.state.live:
                run.exits.append((run.state, NONE))
        if not run.exits and not info.is_generator:
            return UNKNOWN
        if not run.exits:
            # A generator that never ends hands out its values all the same.
            run.state.live = True
            run.exits.append((run.state, NONE))
        state, value = run.exits[-1]
        for earlier, returned in reversed(run.exits[:-1]):
            value = join(returned, value, branch_literal(earlier.facts, state.facts))
            state = join_states(earlier, state)
        run.state = state
    if info.is_generator:
        generator = run.allocate(info.node, Sequence(None, join_all(run.yielded), "generator"))
        if run.yielding:
            run.engine.pauses[generator.address] = suspended_generator(run, before)
        return generator
    return value


def scope_for(run: Frame, info: FunctionInfo, receiver: Value | None, data: Iterable[Value]) -> Scope:
    """What rules may ask of the code about to be run; `data` are the tensors and modules among its other arguments."""
    in_module = info.owner is not None and receiver is not None and is_module(run, receiver)
    building = run.engine.constructing > 0
    return Scope(
        info.name,
        info.module.filename,
        method_of_module=in_module and not building,
        any_device=not building and _is_for_any_device(run, info),
        construction=building,
        given=tuple(
            islice(
                _given(run, chain(contained_tensors(run, [receiver] if receiver is not None else []), data)), MAX_GIVEN
            )
        ),
        caller=run.scope,
    )


def _is_for_any_device(run: Frame, info: FunctionInfo) -> bool:
    """Whether code asks for a device or an operation is written for all; datasets make what they hand out themselves,
    on the host."""
    if info.owner is not None and is_dataset_class(run, info.owner):
        return False
    return info.evidence.devices or (info.owner is not None and is_autograd_function_class(run, info.owner))


def _given(run: Frame, data: Iterable[Value]) -> Iterator[Placement]:
    """Where the data among the arguments is, as far as anything is known of it."""
    for value in data:
        match value:
            case Tensor():
                yield run.settle(value).placement
            case OpaqueData(placement=placement):
                yield placement
            case Ref():
                placement = placement_of_module(run, value)
                if not is_unknown_placement(placement):
                    yield placement


def _causes(data: Iterable[Value]) -> Iterator[Step]:
    """The steps that placed the tensors among the arguments."""
    for value in data:
        if isinstance(value, (Tensor, OpaqueData)):
            yield from (
                leaf.placing_step for _, leaf in placement_cases(value.placement) if leaf.placing_step is not None
            )


def _mark_cached(run: Frame, value: Value, node: cst.CSTNode) -> Value:
    if not isinstance(value, Tensor):
        return value

    def mark(previous: Step | None) -> Step:
        return run.step(StepKind.CACHED, "returned from a cache whose key does not hold the device", node, previous)

    return replace(value, placement=extend_provenance(value.placement, mark), fresh=None)
