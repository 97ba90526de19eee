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
def raise_(run: Frame, node: cst.Raise) -> None:
    """`raise`: the path ends here, or goes on in a handler."""
    if node.exc is not None:
        run.evaluate(node.exc)
    if run.trials:
        run.trials[-1].append(run.state.fork())
    run.state.live = False


def execute_failing(run: Frame, body: cst.BaseSuite) -> State:
    """Run statements of which any may fail; the state in which the failure is met."""
    failures = [run.state.fork()]
    run.trials.append(failures)
    for one in body.body:
        run.execute(one)
        if run.state.live:
            failures.append(run.state.fork())
    run.trials.pop()
    return join_all_states(failures)


class EarlyExits:
    """The states that leave the code around by return, break and continue from now on."""

    def __init__(self, run: Frame) -> None:
        self._run = run
        self._exits = len(run.exits)
        ways = [run.loops[-1].breaks, run.loops[-1].continues] if run.loops else []
        self._ways = [(way, len(way)) for way in ways]

    def __bool__(self) -> bool:
        return len(self._run.exits) > self._exits or any(len(way) > count for way, count in self._ways)

    def finish(self, last: Callable[[], None]) -> None:
        """Do on each of them what is done on every way out."""
        run = self._run
        end = run.state

        def after(state: State) -> State:
            run.state = state
            last()
            return run.state

        exits, run.exits[self._exits :] = run.exits[self._exits :], []
        run.exits += [(done, value) for state, value in exits if (done := after(state)).live]
        for way, count in self._ways:
            way[count:] = [done for state in way[count:] if (done := after(state)).live]
        run.state = end


@executes(cst.Try, cst.TryStar)
def try_(run: Frame, node: cst.Try | cst.TryStar) -> None:
    """`try`: a handler may be entered from before the body, or from after any part of it."""
    departures = EarlyExits(run)
    failed: State | None = None
    if node.handlers:
        failed = execute_failing(run, node.body)
        if _has_imported(run, node):
            failed = None
    else:
        run.execute(node.body)
    if node.orelse is not None:
        run.execute(node.orelse)
    ends = [run.state]
    for handler in node.handlers:
        if failed is None:
            break
        run.state = failed.fork()
        if handler.name is not None and isinstance(handler.name.name, cst.Name):
            run.bind(handler.name.name.value, UNKNOWN)
        run.execute(handler.body)
        ends.append(run.state)
    run.state = join_all_states(ends)
    if node.finalbody is not None:
        _finally(run, node.finalbody, departures)


def _has_imported(run: Frame, node: cst.Try | cst.TryStar) -> bool:
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
    found = [run.state.names.get(name) for name in names]
    return all(isinstance(one, ProgramDefinition) for one in found)


def _finally(run: Frame, body: cst.Finally, departures: EarlyExits) -> None:
    # Where nobody knows how the body was left, it was by an exception.
    unexplained = not run.state.live and not departures
    departures.finish(lambda: run.execute(body))
    run.state.live = run.state.live or unexplained
    run.execute(body)
    run.state.live = run.state.live and not unexplained
