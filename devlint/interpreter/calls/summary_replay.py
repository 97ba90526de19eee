"""Calls that a further round of a loop makes again: given the same, where nothing they could read has changed, they do
what they did before.

What counts as the same is what ends a loop: values that are equal, however they came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from devlint.domain.storage import Storage
from devlint.domain.value import Array, Tensor, Tuple, Value
from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.state.abstract_state import TorchState
from devlint.interpreter.state.call_summaries import CallInputs, CallKey, CallSummary
from devlint.interpreter.state.frame import Frame

WORTH: Final = 24
"""Syntax nodes a call must have evaluated to be remembered: running a smaller one again is as quick as comparing."""

MAX_CHANGED: Final = 400
"""Objects that may have been written since a call for it to be remembered: to compare more takes longer than most calls
do."""

MAX_HELD: Final = 1_000_000
"""Heap objects that the remembered heaps may hold together; each is a reference of eight bytes, and a key."""


def call_inputs(frame: Frame, info: FunctionInfo, names: Mapping[str, Value]) -> CallInputs | None:
    """What a call finds, where it may be made again: what a generator does later is not seen."""
    analysis = frame.analysis
    if not analysis.call_summaries.loops or info.is_generator:
        return None
    if info in analysis.active_functions or analysis.recursive_calls.left_out:
        return None
    state = frame.state
    found = {**_captured(info), **names}
    moments = analysis.call_summaries.moments
    return CallInputs(
        found, state.path_condition, state.torch_state, state.heap.fork(), _elsewhere(frame), moments, analysis.budget
    )


def _elsewhere(frame: Frame) -> tuple[int, int]:
    """How often names were bound that are not the code's own."""
    return frame.analysis.global_writes, frame.analysis.call_summaries.rebound


def record_summary(frame: Frame, call: CallKey, inputs: CallInputs, value: Value) -> None:
    """Keep what a call has done, if it was worth the while and nobody else can have seen it."""
    analysis, summaries = frame.analysis, frame.analysis.call_summaries
    worth = inputs.budget - analysis.budget >= WORTH and analysis.budget > 0 and not analysis.abandoned
    if not worth or _elsewhere(frame) != inputs.elsewhere or summaries.moments != inputs.moments:
        return
    if analysis.recursive_calls.left_out:
        return
    size = len(inputs.heap)
    if summaries.held + size <= MAX_HELD:
        summaries.held += size
        written = tuple(frame.state.heap.written_since(inputs.heap))
        summaries.summaries[call] = CallSummary(inputs, written, frame.state.torch_state, value)


def replay(frame: Frame, call: CallKey, now: CallInputs) -> Value | None:
    """Do what the same call did before, if it finds the same now; what it returns, None where it has to be made."""
    deed = frame.analysis.call_summaries.summaries.get(call)
    if deed is None or not _same(deed.before, now):
        return None
    for address, thing in deed.written:
        frame.put(address, thing)
    frame.state.torch_state = _later(deed, now.torch_state)
    return _renewed(deed.value, now.names.values())


def _captured(info: FunctionInfo) -> dict[str, Value]:
    """What a function that was defined in another finds there under the names it mentions."""
    found: dict[str, Value] = {}
    outer = info.closure
    while outer is not None:
        found = {name: value for name, value in outer.state.names.items() if name in info.mentioned} | found
        outer = outer.outer
    return found


def _same(inputs: CallInputs, now: CallInputs) -> bool:
    return (
        inputs.elsewhere == now.elsewhere
        and inputs.path_condition == now.path_condition
        and _surroundings(inputs.torch_state) == _surroundings(now.torch_state)
        and inputs.names == now.names
        and all(map(_is_alike, inputs.names.values(), now.names.values()))
        and now.heap.agrees(inputs.heap, MAX_CHANGED)
    )


def _surroundings(torch_state: TorchState) -> tuple[object, ...]:
    """What operations can see of their surroundings: not how much work there has been."""
    return (
        torch_state.default_device,
        torch_state.default_dtype,
        torch_state.grad,
        torch_state.autocast,
        torch_state.current_device_known,
    )


def _is_alike(one: Value, other: Value) -> bool:
    """Whether equal values are so, too, in what a comparison leaves out and findings build on."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return (one.moved is None) == (other.moved is None) and one.was_parameter == other.was_parameter
    return True


def _later(deed: CallSummary, now: TorchState) -> TorchState:
    """What surrounds the operations after the call: it launched as much work, and waited for it as often."""
    before, after = deed.before.torch_state, deed.torch_state
    running = now.unsynchronized if after.epoch == before.epoch else None
    if after.unsynchronized is not None and after.unsynchronized[0] > before.launches:
        number, step = after.unsynchronized
        running = number - before.launches + now.launches, step
    return replace(
        after,
        epoch=after.epoch - before.epoch + now.epoch,
        launches=after.launches - before.launches + now.launches,
        unsynchronized=running,
        waited=now.waited if after.waited is before.waited else after.waited,
    )


def _renewed(value: Value, given: Iterable[Value]) -> Value:
    """The value as a call returns it anew: not in the memory of what the call before has returned."""
    if isinstance(value, Tuple):
        return replace(value, items=tuple(_renewed(item, given) for item in value.items))
    if not isinstance(value, (Tensor, Array)) or value.memory is None:
        return value
    roots = [one.memory.root for one in given if isinstance(one, (Tensor, Array)) and one.memory is not None]
    if value.memory.root in roots:
        return value
    return replace(value, memory=Storage(shares=value.memory.shares, parts=value.memory.parts))
