"""`for` and `while`: element by element over a short known sequence, else until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import libcst as cst

from devlint.domain.value import UNKNOWN, Value
from devlint.interpreter.conditions.narrowing import condition_of, narrow
from devlint.interpreter.state.abstract_state import State, is_fixpoint, join_all_states, join_states
from devlint.interpreter.state.frame import Frame, LoopFrame, executes

MAX_ROUNDS: Final = 3
"""Times a loop's body is run before what still changes is given up as unknown; nearly all settle in two."""


@executes(cst.While)
def while_(run: Frame, node: cst.While) -> None:
    """`while`: zero or more times, and at its end the test fails."""

    def head(_: int) -> None:
        condition_of(run, node.test)
        narrow(run, node.test, True)

    frame = _repeat(run, node, head)
    condition_of(run, node.test)
    narrow(run, node.test, False)
    _end(run, node, frame)


@executes(cst.For)
def for_(run: Frame, node: cst.For) -> None:
    """`for`: once for each element of a short known sequence, else until nothing changes."""
    found = run.iterate(run.evaluate(node.iter), node.iter)
    if found.items is not None:
        frame = _unroll(run, node, found.items)
    else:
        first = found.element if found.first is None else found.first
        alike = int(first != found.element)
        frame = _repeat(
            run, node, lambda times: run.assign(node.target, found.element if times else first), alike=alike
        )
    _end(run, node, frame)


def _end(run: Frame, node: cst.For | cst.While, frame: LoopFrame) -> None:
    """After the loop: its `else` is for the path that has not left it by `break`."""
    if node.orelse is not None:
        run.execute(node.orelse)
    run.state = join_all_states([run.state, *frame.breaks])


def _frame(run: Frame, node: cst.For | cst.While, *, unrolled: bool = False) -> LoopFrame:
    head = node.target if isinstance(node, cst.For) else node.test
    return LoopFrame(run.loop_at(head), node, run.engine.assigned(node), unrolled)


def _unroll(run: Frame, node: cst.For, items: Sequence[Value]) -> LoopFrame:
    frame = _frame(run, node, unrolled=True)
    run.loops.append(frame)
    for position, item in enumerate(items):
        if not run.state.live:
            break
        with run.round(node, position):
            run.assign(node.target, item)
            run.execute(node.body)
        run.state = join_all_states([run.state, *frame.continues])
        frame.continues.clear()
    run.loops.pop()
    return frame


def _repeat(run: Frame, node: cst.For | cst.While, head: Callable[[int], None], *, alike: int = 0) -> LoopFrame:
    """Run the body until nothing changes that it reads; the rounds have the same head from `alike` on."""
    frame = _frame(run, node)
    run.loops.append(frame)
    # What a module binds, every function may read.
    names = run.engine.loop_carried(node, run.function) if run.function is not None else None
    with run.engine.repeats.loop(run.function, frame.assigned):
        for times in range(MAX_ROUNDS):
            start = run.state
            run.state = start.fork()
            with run.again(node, times):
                head(times)
                run.execute(node.body)
            end = join_all_states([run.state, *frame.continues])
            frame.continues.clear()
            run.state = join_states(start.fork(), end) if end.live else start
            if is_fixpoint(start, run.state, names) and times >= alike:
                break
            if times == MAX_ROUNDS - 1:
                _widen(start, run.state)
    run.loops.pop()
    return frame


def _widen(before: State, after: State) -> None:
    """Give up on the names that a loop keeps changing."""
    for name, value in after.names.items():
        if before.names.get(name) != value and name in before.names:
            after.names[name] = UNKNOWN


@executes(cst.Break)
def break_(run: Frame, node: cst.Break) -> None:
    """`break`."""
    _leave(run, lambda frame: frame.breaks)


@executes(cst.Continue)
def continue_(run: Frame, node: cst.Continue) -> None:
    """`continue`."""
    _leave(run, lambda frame: frame.continues)


def _leave(run: Frame, exits: Callable[[LoopFrame], list[State]]) -> None:
    if run.loops:
        exits(run.loops[-1]).append(run.state.fork())
    run.state.live = False
