"""Calls of the program's own functions: each is run on its actual arguments, in a frame of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, islice
from typing import Final

import libcst as cst

from devlint.domain.join import join
from devlint.domain.objects import Sequence, join_all
from devlint.domain.path_conditions import NO_CONDITION, branch_literal
from devlint.domain.placement import (
    Placement,
    Scope,
    Step,
    StepKind,
    extend_provenance,
    is_unknown_placement,
)
from devlint.domain.value import NONE, UNKNOWN, OpaqueData, ProgramDefinition, Ref, Tensor, Value
from devlint.interpreter.calls.cached_calls import cached_call, remember, remembered
from devlint.interpreter.calls.decorators import decorated_function, is_compiled, without_dtypes
from devlint.interpreter.calls.failed_results import result_after_failures
from devlint.interpreter.calls.parameter_binding import bind_parameters, is_refused
from devlint.interpreter.calls.passed_arguments import record_passed_arguments
from devlint.interpreter.calls.private_callers import record_private_call
from devlint.interpreter.calls.recursion import assume_bottom, descends_into_argument, recursive_result
from devlint.interpreter.calls.summary_replay import call_inputs, record_summary, replay
from devlint.interpreter.language.context_managers import decorator_torch_state, suspended_generator
from devlint.interpreter.language.nonlocals import reload, write_back
from devlint.interpreter.language.opaque_data import forget_opaque_data
from devlint.interpreter.objects.class_hierarchy import is_autograd_function_class, is_dataset_class
from devlint.interpreter.objects.contained_tensors import contained_tensors, placing_steps
from devlint.interpreter.objects.havoc import forget_changed_attributes, havoc
from devlint.interpreter.objects.module_state import is_module, placement_of_module
from devlint.interpreter.operations.copies_in_flight import take_generator_writes
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.function_roles import CACHING_DECORATORS, heat_of_function
from devlint.interpreter.program.liveness import names_mutated_in
from devlint.interpreter.state.abstract_state import State, join_states
from devlint.interpreter.state.arguments import Argument, Arguments
from devlint.interpreter.state.deep_calls import Reach
from devlint.interpreter.state.device_facts import device_facts, facts_about
from devlint.interpreter.state.events import CallOnStack
from devlint.interpreter.state.frame import Frame

MAX_ARGUMENT_PLACEMENTS: Final = 8
"""The number of arguments' placements that a scope remembers.

This is enough to know whether one of the tensors and modules among the arguments was on an accelerator.
"""

_NOTHING: Final = nullcontext()
"""The context of a call that is free."""


def call_function(
    frame: Frame,
    info: FunctionInfo,
    receiver: Value | None,
    arguments: Arguments,
    *,
    is_module: bool = False,
    entry: bool = False,
) -> Value:
    """Run a function on the arguments of a call, and apply its effects on the heap to the calling frame.

    `entry` is true for a call from outside the program; decorators that devlint does not know are then ignored. A call
    that may not be followed (too deep, or too much recursion) has an unknown result and any effect on its arguments.
    """
    analysis = frame.analysis
    has_tensor = any(isinstance(one.value, (Tensor, OpaqueData)) for one in arguments)
    descends = descends_into_argument(frame, info, receiver, arguments)
    reach = analysis.reach(info, descends=descends, has_tensor=has_tensor)
    if reach is Reach.NOT:
        if assume_bottom(frame, info, arguments):
            frame.state.live = False
        else:
            havoc(frame, arguments)
            forget_changed_attributes(frame, receiver, info)
            _forget_batches(frame, info, arguments)
        return UNKNOWN
    with analysis.deep_call() if reach is Reach.BEYOND else _NOTHING:
        return _follow_call(frame, info, receiver, arguments, is_module=is_module, entry=entry)


def _forget_batches(frame: Frame, info: FunctionInfo, arguments: Arguments) -> None:
    """Make the placements of the batches among a call's arguments unknown if the function may store into them."""
    batches = [(one.node, one.value) for one in arguments if isinstance(one.value, OpaqueData)]
    if not batches or names_mutated_in(info.node.body).isdisjoint(one.name for one in info.parameters):
        return
    for node, batch in batches:
        if isinstance(node, cst.BaseExpression):
            forget_opaque_data(frame, node, batch)


def _follow_call(
    frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments, *, is_module: bool, entry: bool
) -> Value:
    """Return the result of a call that is followed, which a function with a cache may remember from an earlier call."""
    cached = cached_call(frame, info, receiver, arguments) if info.decorators and not entry else None
    known = remembered(frame, cached) if cached is not None else None
    if known is not None:
        return known
    result = _run_decorated(frame, info, receiver, arguments, is_module=is_module, entry=entry)
    if cached is not None:
        remember(frame, cached, result)
    return result


def _run_decorated(
    frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments, *, is_module: bool, entry: bool
) -> Value:
    """Run a function, or what its decorators made of it, on the arguments of a call, and return the result."""
    with frame.analysis.contain_errors(frame.module.filename, info.name):
        if info.decorators and info not in frame.analysis.unwrapping_decorators:
            value = decorated_function(frame, info)
            if value != ProgramDefinition(info) and not (entry and value == UNKNOWN):
                return _call_wrapper(frame, info, value, receiver, arguments)
        result = _run_in_new_frame(frame, info, receiver, arguments, is_module=is_module, entry=entry)
        return without_dtypes(frame, result) if info.decorators and is_compiled(frame, info) else result
    return UNKNOWN


def _call_wrapper(
    frame: Frame, info: FunctionInfo, wrapper: Value, receiver: Value | None, arguments: Arguments
) -> Value:
    """Call the value that a function's decorators made of the function.

    When the wrapper in turn calls the function, the function's own body is run, without its decorators.
    """
    binds = (
        isinstance(wrapper, ProgramDefinition)
        and isinstance(wrapper.definition, FunctionInfo)
        and wrapper.receiver is None
    )
    if receiver is not None and binds:
        positional = [Argument(receiver, arguments.expression), *arguments.positional]
        arguments = replace(arguments, positional=positional)
    frame.analysis.unwrapping_decorators.add(info)
    try:
        return frame.call(wrapper, arguments, arguments.node)
    finally:
        frame.analysis.unwrapping_decorators.discard(info)


def _run_in_new_frame(
    frame: Frame, info: FunctionInfo, receiver: Value | None, arguments: Arguments, *, is_module: bool, entry: bool
) -> Value:
    """Run a function in a new frame and return its result.

    If a call with the same inputs has been run before, that call's recorded summary is applied instead.
    """
    analysis = frame.analysis
    if not entry and not info.decorators and is_refused(info, receiver, arguments):
        frame.fail()
        return UNKNOWN
    names = bind_parameters(frame, info, receiver, arguments)
    if not entry:
        record_private_call(frame, info, names, receiver)
        record_passed_arguments(frame, info, names, receiver, arguments.node)
    call = info, analysis.context_number(frame.context, arguments.node)
    before = call_inputs(frame, info, names)
    if before is not None:
        known = replay(frame, call, before)
        if known is not None:
            return known
    data = [*contained_tensors(frame, [value for value in names.values() if value != receiver])]
    inner = type(frame)(
        analysis,
        info.module,
        info.unit,
        scope_for(frame, info, receiver, data, arguments.node),
        State(names, frame.state.heap, frame.state.path_condition, frame.state.torch_state),
        function=info,
        outer=info.closure,
        context=call[1],
        loop_pass_key=frame.loop_pass_key,
        enclosing_loop=frame.loop,
    )
    inner.caller = frame, arguments.node
    inner.is_failure_wanted = frame.is_failure_wanted
    if analysis.observer is not None:
        for parameter in info.parameters:
            analysis.observer.bind(inner, parameter.node, names[parameter.name])
    causes = frozenset(placing_steps(data))
    display = info.owner.name if is_module and info.owner is not None else info.name
    on_stack = CallOnStack(frame.place(arguments.node), display, causes, is_module, receiver)
    analysis.calls.append(on_stack)
    analysis.active_functions.append(info)
    analysis.executed_nodes.add(info.node)
    if analysis.construction_depth:
        analysis.run_in_constructors.add(info)
    written_back = write_back(frame)
    try:
        value = run_body(inner)
    finally:
        analysis.active_functions.pop()
        analysis.calls.pop()
    write_back(inner)
    reload(frame, written_back)
    end = inner.state
    returns = end.live or bool(inner.returns)
    value = result_after_failures(inner, on_stack, value)
    result = recursive_result(frame, info, value if returns else None)
    if result is None:
        frame.state.live, frame.state.failed = False, end.failed and not returns
    if not returns or result is None:
        return UNKNOWN
    frame.state.heap, frame.state.torch_state = end.heap, end.torch_state
    # A function that returns only for tensors of some device types leaves its caller with such tensors.
    learned = end.path_condition - frame.state.path_condition
    facts = device_facts(learned)
    if learned and not info.is_generator:
        # So does one that returns only under a condition which decides where its arguments are.
        facts |= facts_about(learned, inner.scope.argument_placements)
    frame.state.path_condition |= facts
    required = NO_CONDITION if info.is_generator else end.required
    frame.state.require(required)
    if analysis.symbolic and not analysis.active_functions:
        # Methods run only after the constructor has returned, so the conditions of its return hold for them.
        frame.state.path_condition |= end.path_condition
    if info.decorator_names & CACHING_DECORATORS and not any("device" in one.name for one in info.parameters):
        result = _mark_cached(frame, result, arguments.node)
    if before is not None:
        record_summary(frame, call, before, result, facts, required)
    return result


def run_body(frame: Frame) -> Value:
    """Run a function's body in its frame and return the join of its return values.

    Afterwards `frame.state` is the join of the abstract states at all returns and at the end of the body.
    """
    info = frame.function
    assert info is not None
    before = frame.state.torch_state
    earlier = len(frame.analysis.writes_when_resumed)
    settings = frame.set_torch_state(decorator_torch_state(frame, info))
    value = _run_to_returns(frame, info)
    frame.set_torch_state(settings)
    if info.is_generator:
        made = Sequence(None, join_all(frame.yielded_values), "generator")
        generator = frame.allocate(info.node, made)
        take_generator_writes(frame, made, generator, earlier)
        if frame.states_at_yield:
            frame.analysis.suspended_generators[generator.address] = suspended_generator(frame, before)
        return generator
    return value


def _run_to_returns(frame: Frame, info: FunctionInfo) -> Value:
    """Run a function's body under the settings of torch that its decorators make, and join its returns."""
    if type(info.node) is cst.Lambda:
        value = frame.evaluate(info.node.body)
        if frame.state.live:
            frame.returns.append((frame.state, value))
    else:
        frame.execute(info.node.body)
        if frame.state.live:
            frame.returns.append((frame.state, UNKNOWN if info.is_stub else NONE))
    if not frame.returns and not info.is_generator:
        return UNKNOWN
    if not frame.returns:
        # A generator without an end still yields its values to the caller.
        frame.state.revive()
        frame.returns.append((frame.state, NONE))
    state, value = frame.returns[-1]
    for earlier, returned in reversed(frame.returns[:-1]):
        value = join(returned, value, branch_literal(earlier.path_condition, state.path_condition))
        state = join_states(earlier, state)
    frame.state = state
    return value


def scope_for(
    frame: Frame, info: FunctionInfo, receiver: Value | None, data: Iterable[Value], call: cst.CSTNode
) -> Scope:
    """Return the `Scope` of a function's run: what findings and rules know about the run, such as its name and caller.

    `data` are the tensors and modules among the arguments other than the receiver, `call` is the call's node.
    """
    in_module = info.owner is not None and receiver is not None and is_module(frame, receiver)
    building = frame.analysis.construction_depth > 0
    return Scope(
        info.name,
        info.module.filename,
        method_of_module=in_module and not building,
        any_device=not building and _is_for_any_device(frame, info),
        construction=building,
        argument_placements=tuple(
            islice(
                _known_placements(
                    frame, chain(contained_tensors(frame, [receiver] if receiver is not None else []), data)
                ),
                MAX_ARGUMENT_PLACEMENTS,
            )
        ),
        caller=frame.scope,
        heat=heat_of_function(info, analysed=info.module is frame.analysis.torch_defaults.entry_module),
        body=info.node,
        called_at=frame.place(call),
        makes_sample=_makes_sample(frame, info),
    )


def _makes_sample(frame: Frame, info: FunctionInfo) -> bool:
    """Return whether a function is the method by which a dataset makes one sample."""
    is_getter = info.name.rpartition(".")[2] == "__getitem__"
    return is_getter and info.owner is not None and is_dataset_class(frame, info.owner)


def _is_for_any_device(frame: Frame, info: FunctionInfo) -> bool:
    """Return whether a function is written for any device: it mentions a device, or belongs to an autograd Function.

    So is a function with parameters that are annotated as tensors, in a file whose functions follow devices. Methods of
    datasets are not, since a dataset makes its items itself, on the host.
    """
    if info.owner is not None and is_dataset_class(frame, info.owner):
        return False
    if info.evidence.mentions_device:
        return True
    if info.owner is not None:
        return is_autograd_function_class(frame, info.owner)
    return info.module.follows_devices and info.takes_tensors


def _known_placements(frame: Frame, data: Iterable[Value]) -> Iterator[Placement]:
    """Yield the placements, as far as known, of the tensors and modules among a call's arguments."""
    for value in data:
        match value:
            case Tensor():
                yield frame.resolve(value).placement
            case OpaqueData(placement=placement):
                yield placement
            case Ref():
                placement = placement_of_module(frame, value)
                if not is_unknown_placement(placement):
                    yield placement


def _mark_cached(frame: Frame, value: Value, node: cst.CSTNode) -> Value:
    """Return a tensor with a step in its history that says that a cache (`lru_cache`) returned it.

    The key of the cache does not hold the device. Any value other than a tensor is returned unchanged.
    """
    if not isinstance(value, Tensor):
        return value

    def mark(previous: Step | None) -> Step:
        return frame.step(StepKind.CACHED, "returned from a cache whose key does not hold the device", node, previous)

    return replace(value, placement=extend_provenance(value.placement, mark), fresh=None)
