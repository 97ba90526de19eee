"""Hot code: what runs again and again, where the cost of an operation matters.

Hot is a loop over more than a few known elements, a function that runs for every batch, step or request, and what such
code calls. Not hot are module level, set-up, the construction of modules, tests, and what runs only until its result is
kept (`if self.table is None: self.table = ...`).
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.domain.heat import Heat
from devlint.domain.placement import Loop, Place, Scope
from devlint.interpreter.program.kept_results import runs_until_kept


def is_hot(place: Place, scope: Scope, loop: Loop | None) -> bool:
    """Return whether code runs again and again; `scope` is its run, and `loop` the innermost loop around it."""
    at: Place | None = place
    run: Scope | None = scope
    while run is not None and at is not None:
        if run.heat is Heat.ONCE or run.construction or _is_kept(at, run):
            return False
        repeats = run.heat is not Heat.SET_UP and any(not one.counted for one in _loops_of(run, loop))
        if repeats or run.heat is Heat.HOT:
            return not _is_once(run.caller)
        at, run = run.called_at, run.caller
    return False


def _is_once(run: Scope | None) -> bool:
    """Return whether code is called, directly or not, by code that runs once."""
    while run is not None:
        if run.heat is Heat.ONCE or run.construction:
            return True
        run = run.caller
    return False


def _loops_of(run: Scope, loop: Loop | None) -> Iterator[Loop]:
    """Yield the loops around some code that stand in the function whose run is given, from `loop` outwards."""
    return (one for one in (loop.around() if loop is not None else ()) if one.scope is run)


def _is_kept(at: Place, run: Scope) -> bool:
    """Return whether code runs only as long as its function has not kept the result of an earlier run."""
    return isinstance(run.body, cst.CSTNode) and isinstance(at.node, cst.CSTNode) and runs_until_kept(run.body, at.node)
