"""Handlers of `for` and `while` loops.

A loop over a short known sequence is unrolled (run once per element); any other loop is run to a fixpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

import libcst as cst

from devlint.domain import objects
from devlint.domain.objects import Dict, key_value
from devlint.domain.path_conditions import Atom, Literal
from devlint.domain.value import UNKNOWN, Ref, Value
from devlint.interpreter.conditions.narrowing import condition_of, narrow
from devlint.interpreter.language.batch_loops import as_batch, is_batch
from devlint.interpreter.objects.collections import dict_with_entry, without_entry
from devlint.interpreter.objects.live_elements import (
    Sources,
    any_element,
    element_at,
    has_ended,
    has_list,
    optional_keys,
    source_of,
    states_without,
)
from devlint.interpreter.objects.sequence_lengths import forget_length
from devlint.interpreter.operations.copies_in_flight import report_writes_on_resuming
from devlint.interpreter.state.abstract_state import State, is_fixpoint, join_all_states, join_states
from devlint.interpreter.state.frame import Frame, LoopFrame, executes

MAX_PASSES: Final = 3
"""The number of passes through a loop's body before names that still change become unknown.

Nearly all loops reach their fixpoint in two passes.
"""


MAX_DECIDED: Final = 4
"""The most passes through a `while` loop that are run one by one, because the values so far decide its test."""


@executes(cst.While)
def while_(frame: Frame, node: cst.While) -> None:
    """Execute `while`: pass by pass while its test is decided, else zero or more times to a fixpoint.

    After the loop the test is known to be false.
    """
    decided = _run_decided_passes(frame, node)
    if decided is not None:
        _finish_loop(frame, node, decided)
        return

    def head(_: int) -> None:
        condition_of(frame, node.test)
        narrow(frame, node.test, True)

    loop_frame = _repeat(frame, node, head, objects.Sequence(None))
    condition_of(frame, node.test)
    narrow(frame, node.test, False)
    _finish_loop(frame, node, loop_frame)


def _run_decided_passes(frame: Frame, node: cst.While) -> LoopFrame | None:
    """Run a loop such as `while len(x) < 2` pass by pass, if its test is decided before and after each of few passes.

    Otherwise the state is that before the loop, and the result is None; what the passes have shown stays reported.
    """
    if not isinstance(node.test, cst.Comparison) or condition_of(frame, node.test) is not True:
        return None
    before, loop_frame = frame.state, _new_loop_frame(frame, node, unrolled=True)
    frame.state = before.fork()
    frame.loops.append(loop_frame)
    goes_on: Literal | bool | None = True
    for position in range(MAX_DECIDED):
        with frame.iteration(node, position):
            loop_frame.iteration = frame.context, frame.loop_pass_key
            frame.execute(node.body)
        frame.state = join_all_states([frame.state, *loop_frame.continues])
        loop_frame.continues.clear()
        goes_on = condition_of(frame, node.test) if frame.state.live else False
        if goes_on is not True:
            break
    frame.loops.pop()
    if goes_on is False:
        return loop_frame
    frame.state = before
    return None


@executes(cst.For)
def for_(frame: Frame, node: cst.For) -> None:
    """Execute `for`: once per element if the elements are known and few, otherwise until the names no longer change.

    A pass is made for each known element at the beginning.
    """
    value = frame.evaluate(node.iter)
    found = frame.iterate(value, node.iter)
    if found.kind in ("iterator", objects.ANY_ITERATOR):
        forget_length(frame, value)
    sources = source_of(frame, value, found)
    if found.items is not None:
        loop_frame = _unroll(frame, node, found, found.items, sources)
    elif found.optional and not _changes_iterable(frame, node):
        loop_frame = _unroll(frame, node, found, [one for one, _ in found.optional], None)
    else:

        def element_of(value: Value) -> Value:
            return value if has_list(sources) else as_batch(frame, node, value, node.target)

        element, prefix = element_of(found.element), [*map(element_of, found.prefix)]

        def head(times: int) -> None:
            if times < len(prefix):
                frame.assign(node.target, element_at(frame, sources, times, prefix[times]))
            else:
                frame.assign(node.target, any_element(frame, sources, element))

        alike = max((number for number, one in enumerate(prefix, 1) if one != element), default=0)
        loop_frame = _repeat(frame, node, head, found, alike=alike, of_batches=is_batch(element))
    _finish_loop(frame, node, loop_frame)


def _finish_loop(frame: Frame, node: cst.For | cst.While, loop_frame: LoopFrame) -> None:
    """Run the `else` clause of a loop after its last pass, and join the states that left the loop by `break`."""
    if node.orelse is not None:
        frame.execute(node.orelse)
    frame.state = join_all_states([frame.state, *loop_frame.breaks])


def _new_loop_frame(
    frame: Frame, node: cst.For | cst.While, *, unrolled: bool = False, of_batches: bool = False
) -> LoopFrame:
    """Return a new record (`LoopFrame`) of a `for` or `while` statement that starts to run."""
    head = node.target if isinstance(node, cst.For) else node.test
    loop = frame.loop_at(head, node, counted=unrolled, of_batches=of_batches)
    return LoopFrame(loop, node, frame.analysis.facts.names_changed(node), unrolled)


def _unroll(
    frame: Frame, node: cst.For, found: objects.Sequence, items: Sequence[Value], sources: Sources
) -> LoopFrame:
    """Run a loop's body once for each element of an iterable whose elements `items` are all known.

    `found` describes the iterable, and `sources` are the lists that hold the elements, which the body may change. For
    a key that a dict may lack, the loop goes on in both ways.
    """
    loop_frame = _new_loop_frame(frame, node, unrolled=True)
    keys = optional_keys(frame, found)
    frame.loops.append(loop_frame)
    for position, item in enumerate(items):
        if not frame.state.live or has_ended(frame, sources, position):
            break
        skipped = [_state_without(frame, found.mapping, keys[position])] if position in keys and found.mapping else []
        if found.optional:
            skipped = states_without(frame, found.optional[position][1])
        with frame.iteration(node, position):
            loop_frame.iteration = frame.context, frame.loop_pass_key
            frame.assign(node.target, element_at(frame, sources, position, item))
            frame.execute(node.body)
        frame.state = join_all_states([frame.state, *loop_frame.continues, *skipped])
        loop_frame.continues.clear()
    frame.loops.pop()
    return loop_frame


def _changes_iterable(frame: Frame, node: cst.For) -> bool:
    """Return whether the body of a loop over a name may change the list that the name holds."""
    return isinstance(node.iter, cst.Name) and node.iter.value in frame.analysis.facts.names_changed(node)


def _state_without(frame: Frame, reference: Ref, key: Hashable) -> State:
    """Return the state of the path on which a dict lacks a key; the current path goes on with a dict that has it."""
    without = frame.state.fork()
    thing = frame.object_of(reference)
    assert isinstance(thing, Dict)
    if key not in thing.optional:
        without.live = key not in thing.entries
        return without
    has_key = thing.optional[key] or Literal(Atom(("has", reference.address, key), f"there is a {key!r}"))
    frame.state.assume(has_key)
    frame.put(reference.address, dict_with_entry(thing, key_value(key), thing.entries[key]))
    without.assume(~has_key)
    without.heap.put(reference.address, without_entry(thing, key))
    return without


def _repeat(
    frame: Frame,
    node: cst.For | cst.While,
    head: Callable[[int], None],
    made: objects.Sequence,
    *,
    alike: int = 0,
    of_batches: bool = False,
) -> LoopFrame:
    """Run a loop's body until the names that it reads no longer change, at most MAX_PASSES times with the same head.

    Before each pass, `head` binds the variable of a `for` loop, or narrows values by the test of a `while` loop. All
    passes from number `alike` on have the same head, so only from there is it tested whether the names still change.
    `made` describes what the loop goes over. The condition that there is something to loop over, where it is known,
    holds in the body, and where it fails the body is not run. `of_batches` tells that the elements are batches of a
    loader.
    """
    before = frame.state
    end = before
    filled = made.filled
    loop_frame = _new_loop_frame(frame, node, of_batches=of_batches)
    frame.loops.append(loop_frame)
    # Any function may read the names of a module, so a loop at the top level compares all names.
    names = frame.analysis.facts.loop_carried(node, frame.function) if frame.function is not None else None
    with frame.analysis.call_summaries.loop(frame.function, loop_frame.bound_names):
        passes = MAX_PASSES + max(0, alike - 1)
        for times in range(passes):
            start = frame.state
            frame.state = start.fork()
            with frame.loop_pass(node, times):
                loop_frame.iteration = frame.context, frame.loop_pass_key
                if isinstance(filled, Literal):
                    frame.state.assume(filled)
                head(times)
                epoch = frame.state.torch_state.epoch
                frame.execute(node.body)
            required = frame.state.required
            end = join_all_states([frame.state, *loop_frame.continues])
            if end.live:
                # Some pass comes to its end.
                end.require(required)
            loop_frame.continues.clear()
            report_writes_on_resuming(frame, made, end, epoch)
            skipped = _where_passes_go_on(node, start.fork(), end)
            frame.state = join_states(skipped, end) if end.live else skipped
            if is_fixpoint(start, frame.state, names) and times >= alike:
                break
            if times == passes - 1:
                _widen(start, frame.state, end)
    frame.loops.pop()
    if filled is not None:
        frame.state = _after_passes(node, before, end, filled)
    return loop_frame


def _where_passes_go_on(node: cst.For | cst.While, skipped: State, end: State) -> State:
    """Return the state of the path that skips a loop, without what makes the first pass through a `for` loop raise.

    Programs give their loops something to loop over: code behind a loop that raises is not reached.
    """
    if isinstance(node, cst.For):
        if end.live:
            skipped.require(end.required)
        elif end.failed:
            skipped.live, skipped.failed = False, True
    return skipped


def _after_passes(node: cst.For | cst.While, before: State, end: State, filled: Literal | bool) -> State:
    """Return the state after a loop, from those before it and after its last pass.

    A loop that has something to loop over is left after a pass only.
    """
    if filled is True:
        return end
    skipped = _where_passes_go_on(node, before.fork(), end)
    if isinstance(filled, Literal):
        skipped.assume(~filled)
        if end.live:
            end.assume(filled)
    return join_states(skipped, end)


def _widen(before: State, after: State, end: State) -> None:
    """Set the names that still changed in the last pass through a loop to unknown, which ends the loop's analysis.

    They become unknown in the state `end` of the last pass, too.
    """
    for name, value in after.names.items():
        if before.names.get(name) != value and name in before.names:
            after.names[name] = end.names[name] = UNKNOWN


@executes(cst.Break)
def break_(frame: Frame, node: cst.Break) -> None:
    """Execute `break`: end the path, and keep its abstract state for the code after the loop."""
    _leave_loop(frame, lambda loop_frame: loop_frame.breaks)


@executes(cst.Continue)
def continue_(frame: Frame, node: cst.Continue) -> None:
    """Execute `continue`: end the path, and keep its abstract state for the loop's next pass."""
    _leave_loop(frame, lambda loop_frame: loop_frame.continues)


def _leave_loop(frame: Frame, exits: Callable[[LoopFrame], list[State]]) -> None:
    """End the current path at a `break` or `continue`.

    The path's abstract state is added to a list of the innermost loop's frame, which `exits` selects: that of the
    breaks or of the continues.
    """
    if frame.loops:
        exits(frame.loops[-1]).append(frame.state.fork())
    frame.state.live = False
