"""The replay of call summaries: in a further pass through a loop, a call with the same inputs is not run again.

Two calls have the same inputs if nothing that they can read has changed. Values are compared as a loop's fixpoint test
compares them: equal values are the same, even if different steps led to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from devlint.domain.clock_reads import RunningWork
from devlint.domain.path_conditions import PathCondition
from devlint.domain.storage import Storage
from devlint.domain.value import Array, Tensor, Tuple, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import TorchState
from devlint.interpreter.state.call_summaries import CallInputs, CallKey, CallSummary
from devlint.interpreter.state.frame import Frame

MIN_NODES: Final = 24
"""The number of syntax nodes that a call must have evaluated to be remembered.

To run a smaller call again is as fast as to compare its inputs.
"""

MAX_CHANGED: Final = 400
"""The number of objects written since a call up to which the heaps are compared.

To compare more takes longer than to run most calls.
"""

MAX_HELD: Final = 1_000_000
"""The number of heap objects that the remembered heaps may hold in total.

Each object takes a reference of eight bytes and a key.
"""


def call_inputs(frame: Frame, info: FunctionInfo, names: Mapping[str, Value]) -> CallInputs | None:
    """Return the inputs of a call that may be replayed later; None for a call that may not.

    Only calls inside loops may. Calls of generators may not, since a generator's later effects are not part of the
    summary; nor may recursive calls.
    """
    analysis = frame.analysis
    if not analysis.call_summaries.loops or info.is_generator:
        return None
    if info in analysis.active_functions or analysis.recursive_calls.skipped:
        return None
    state = frame.state
    found = {**_captured_names(info), **names}
    moments = analysis.call_summaries.invalidations
    return CallInputs(
        found,
        state.path_condition,
        state.torch_state,
        state.heap.fork(),
        rebinding_counts(frame),
        moments,
        analysis.budget,
    )


def rebinding_counts(frame: Frame) -> tuple[int, int]:
    """Return how often names outside the current frame have been rebound so far, as two counts.

    The first counts global names, the second names of enclosing functions that nested functions capture.
    """
    return frame.analysis.global_writes, frame.analysis.call_summaries.captured_writes


def record_summary(
    frame: Frame, call: CallKey, inputs: CallInputs, value: Value, facts: PathCondition, required: PathCondition
) -> None:
    """Store the summary of a call, for a later replay, if the call was expensive and its inputs determine its effects.

    Not stored is a call that rebinds names outside the function, that reads the time or the amount of running work, or
    in which a recursive call was left out.
    """
    analysis, summaries = frame.analysis, frame.analysis.call_summaries
    worth = inputs.budget - analysis.budget >= MIN_NODES and analysis.budget > 0 and not analysis.abandoned
    if not worth or rebinding_counts(frame) != inputs.outer_writes or summaries.invalidations != inputs.invalidations:
        return
    if analysis.recursive_calls.skipped:
        return
    size = len(inputs.heap)
    if summaries.retained_objects + size <= MAX_HELD:
        summaries.retained_objects += size
        written = tuple(frame.state.heap.written_since(inputs.heap))
        summaries.summaries[call] = CallSummary(inputs, written, frame.state.torch_state, value, facts, required)


def replay(frame: Frame, call: CallKey, now: CallInputs) -> Value | None:
    """Apply the effects of an earlier call with the same inputs, and return the result of that call.

    The result is None if no such call is remembered, so that the call must be run.
    """
    summary = frame.analysis.call_summaries.summaries.get(call)
    if summary is None or not _has_same_inputs(summary.inputs, now):
        return None
    for address, thing in summary.written:
        frame.put(address, thing)
    frame.state.path_condition |= summary.device_facts
    frame.state.require(summary.required)
    frame.state.torch_state = _advance_torch_state(summary, now.torch_state)
    return _with_new_storage(summary.value, now.names.values())


def _captured_names(info: FunctionInfo) -> dict[str, Value]:
    """Return the values of the names that a nested function mentions and that its enclosing functions bind."""
    found: dict[str, Value] = {}
    outer = info.closure
    while outer is not None:
        found = {name: value for name, value in outer.state.names.items() if name in info.mentioned_names} | found
        outer = outer.outer
    return found


def _has_same_inputs(inputs: CallInputs, now: CallInputs) -> bool:
    """Return whether everything that two calls of one function can read is the same."""
    return (
        inputs.outer_writes == now.outer_writes
        and inputs.path_condition == now.path_condition
        and _readable_settings(inputs.torch_state) == _readable_settings(now.torch_state)
        and inputs.names == now.names
        and all(map(_agree_beyond_equality, inputs.names.values(), now.names.values()))
        and now.heap.is_unchanged_since(inputs.heap, MAX_CHANGED)
    )


def _readable_settings(torch_state: TorchState) -> tuple[object, ...]:
    """Return the settings of torch that affect operations, such as the default dtype.

    The counts of launched accelerator work in the torch state are left out.
    """
    return (
        torch_state.default_device,
        torch_state.default_dtype,
        torch_state.grad,
        torch_state.autocast,
        torch_state.current_device,
        torch_state.equal_dtypes,
        torch_state.in_flight,
        torch_state.process_group,
    )


def _agree_beyond_equality(one: Value, other: Value) -> bool:
    """Return whether two equal values also agree in the fields that `==` ignores but that findings depend on."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return (one.moved is None) == (other.moved is None) and one.moved_parameter == other.moved_parameter
    return True


def _advance_torch_state(summary: CallSummary, now: TorchState) -> TorchState:
    """Return the torch state after a replayed call, given the summary of the call and the torch state before.

    The replayed call launches as much accelerator work, and synchronizes as often, as the call that was run.
    """
    before, after = summary.inputs.torch_state, summary.torch_state
    running = now.unsynchronized if after.epoch == before.epoch else None
    work = after.unsynchronized and after.unsynchronized.after(before.launches)
    if work is not None:
        later = now.launches - before.launches
        heavy = running.heavy if running is not None else None
        if work.heavy is not None:
            heavy = replace(work.heavy, number=work.heavy.number + later)
        running = RunningWork(replace(work.newest, number=work.newest.number + later), heavy)
    return replace(
        after,
        epoch=after.epoch - before.epoch + now.epoch,
        launches=after.launches - before.launches + now.launches,
        unsynchronized=running,
        last_wait=now.last_wait if after.last_wait is before.last_wait else after.last_wait,
    )


def _with_new_storage(value: Value, given: Iterable[Value]) -> Value:
    """Return the result of a replayed call in a storage (memory) of its own, unless it lies in an argument's storage.

    If the call were run again, it would also return a tensor in other memory.
    """
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_with_new_storage(item, given) for item in value.items))
    if not isinstance(value, (Tensor, Array)) or value.memory is None:
        return value
    roots = [one.memory.root for one in given if isinstance(one, (Tensor, Array)) and one.memory is not None]
    if value.memory.root in roots:
        return value
    return replace(value, memory=Storage(alias_steps=value.memory.alias_steps, parts=value.memory.parts))
