"""`try`, `with` and `raise`: what holds where an exception arrives, and what is done on every way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import libcst as cst

from devlint.domain.value import UNKNOWN, ProgramDefinition
from devlint.interpreter.program.definitions import names_bound_by
from devlint.interpreter.state.abstract_state import State, join_all_states
from devlint.interpreter.state.frame import Frame, executes
from devlint.syntax.tree_walk import dotted_name

IMPORT_ERRORS: Final = frozenset({"ImportError", "ModuleNotFoundError", "Exception"})
"""What a failing import raises, and how people catch it."""


@executes(cst.Raise)
def raise_(frame: Frame, node: cst.Raise) -> None:
    """`raise`: the path ends here, or goes on in a handler."""
    if node.exc is not None:
        frame.evaluate(node.exc)
    if frame.exception_states:
        frame.exception_states[-1].append(frame.state.fork())
    frame.state.live = False


def execute_failing(frame: Frame, body: cst.BaseSuite) -> State:
    """Run statements of which any may fail; the state in which the failure is met."""
    failures = [frame.state.fork()]
    frame.exception_states.append(failures)
    for one in body.body:
        frame.execute(one)
        if frame.state.live:
            failures.append(frame.state.fork())
    frame.exception_states.pop()
    return join_all_states(failures)


class EarlyExits:
    """The states that leave the code around by return, break and continue from now on."""

    def __init__(self, frame: Frame) -> None:
        self._run = frame
        self._exits = len(frame.returns)
        ways = [frame.loops[-1].breaks, frame.loops[-1].continues] if frame.loops else []
        self._ways = [(way, len(way)) for way in ways]

    def __bool__(self) -> bool:
        return len(self._run.returns) > self._exits or any(len(way) > count for way, count in self._ways)

    def finish(self, last: Callable[[], None]) -> None:
        """Do on each of them what is done on every way out."""
        frame = self._run
        end = frame.state

        def after(state: State) -> State:
            frame.state = state
            last()
            return frame.state

        exits, frame.returns[self._exits :] = frame.returns[self._exits :], []
        frame.returns += [(done, value) for state, value in exits if (done := after(state)).live]
        for way, count in self._ways:
            way[count:] = [done for state in way[count:] if (done := after(state)).live]
        frame.state = end


@executes(cst.Try, cst.TryStar)
def try_(frame: Frame, node: cst.Try | cst.TryStar) -> None:
    """`try`: a handler may be entered from before the body, or from after any part of it."""
    departures = EarlyExits(frame)
    failed: State | None = None
    if node.handlers:
        failed = execute_failing(frame, node.body)
        if _has_imported(frame, node):
            failed = None
    else:
        frame.execute(node.body)
    if node.orelse is not None:
        frame.execute(node.orelse)
    ends = [frame.state]
    for handler in node.handlers:
        if failed is None:
            break
        frame.state = failed.fork()
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            frame.bind(handler.name.name.value, UNKNOWN)
        frame.execute(handler.body)
        ends.append(frame.state)
    frame.state = join_all_states(ends)
    if node.finalbody is not None:
        _finally(frame, node.finalbody, departures)


def _has_imported(frame: Frame, node: cst.Try | cst.TryStar) -> bool:
    """Whether the body only imports, from files of the program: they are there, and no handler of an ImportError is
    entered."""
    imports = [
        part for line in node.body.body for part in (line.body if isinstance(line, cst.SimpleStatementLine) else ())
    ]
    if not all(isinstance(one, cst.ImportFrom) for one in imports) or len(imports) < len(node.body.body):
        return False
    if any((dotted_name(one.type) or "") not in IMPORT_ERRORS for one in node.handlers if one.type is not None):
        return False
    names = {name for one in imports for name in names_bound_by(one)}
    found = [frame.state.names.get(name) for name in names]
    return all(isinstance(one, ProgramDefinition) for one in found)


def _finally(frame: Frame, body: cst.Finally, departures: EarlyExits) -> None:
    # Where nobody knows how the body was left, it was by an exception.
    unexplained = not frame.state.live and not departures
    departures.finish(lambda: frame.execute(body))
    frame.state.live = frame.state.live or unexplained
    frame.execute(body)
    frame.state.live = frame.state.live and not unexplained
