"""Hot code: what runs again and again, where the cost of an operation matters.

Hot is a loop over more than a few known elements, a function that runs for every batch, step or request, and what such
code calls. Not hot are module level, set-up, the construction of modules, tests, the cells of notebooks but for loops
over batches, what runs only until its result is kept (`if self.table is None: self.table = ...`), what a loop calls
only now and then (`if step % 100 == 0: sample()`), and a loop in which a person is asked for input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from devlint.domain.heat import Heat
from devlint.domain.placement import Loop, Place, Scope
from devlint.interpreter.program.branches import is_in_branch
from devlint.interpreter.program.inner_loops import (
    asks_for_input,
    handles_files,
    is_kept_for_inner_loop,
    is_short,
    pays_for_inner_loop,
    stands_beside_training_loop,
)
from devlint.interpreter.program.kept_results import runs_once_in_loops, runs_until_kept
from devlint.interpreter.program.training_code import runs_now_and_then, takes_training_step, trains


def repeater(place: Place, scope: Scope, loop: Loop | None, *, short: bool = True) -> Loop | Scope | None:
    """Return what runs code again and again: a loop, or the run of a function with such a role; None if nothing does.

    `scope` is the run of the code, and `loop` the innermost loop around it. Without `short`, loops do not count that
    are known to end after a hundred iterations.
    """
    at: Place | None = place
    run: Scope | None = scope
    trains = False
    while run is not None and at is not None:
        trains = trains or (isinstance(run.body, cst.CSTNode) and takes_training_step(run.body))
        if run.heat is Heat.ONCE or run.construction or _stands_in(runs_until_kept, at, run):
            return None
        loops = (one for one in repeating_loops(run, loop) if short or not _is_short(one))
        repeating = None if run.heat is Heat.SET_UP else next(loops, None)
        if repeating is not None and run.heat is Heat.CELL and not repeating.of_batches:
            repeating = None
        if repeating is not None and (_stands_in(runs_once_in_loops, at, run) or _is_rare(repeating, at, trains)):
            repeating = None
        if repeating is not None or run.heat is Heat.HOT:
            return None if _is_once(run.caller) else repeating or run
        at, run = run.called_at, run.caller
    return None


def is_paid_for_inner_loop(place: Place, scope: Scope, loop: Loop | None) -> bool:
    """Return whether code that a loop runs again and again runs once for all the iterations of a loop within that loop.

    What it costs is then small beside what the inner loop computes, and so is what a function does beside a loop of its
    own that computes gradients, in a loop that only prepares or tries what is trained too. The inner loop may stand in
    a function that the outer one calls, beside the code or beside the call that leads there. A loop over the batches of
    a loader is no such loop: what is done for each batch counts, and so does what a step of training keeps for an inner
    loop.
    """
    if _stands_in(stands_beside_training_loop, place, scope):
        return True
    repeating = repeater(place, scope, loop)
    if not isinstance(repeating, Loop) or repeating.of_batches:
        return False
    at: Place | None = place
    for run in scope.around():
        code = repeating.body if run is repeating.scope else run.body
        if at is not None and _is_code(code, at.node):
            kept = is_kept_for_inner_loop(code, at.node) and not takes_training_step(repeating.body)
            if kept or pays_for_inner_loop(code, at.node):
                return True
        if run is repeating.scope:
            break
        at = run.called_at
    return False


def stands_beside_files(place: Place, scope: Scope, loop: Loop | None) -> bool:
    """Return whether each iteration of the loop that repeats some code reads or writes a file: that takes longer."""
    repeating = repeater(place, scope, loop)
    body = repeating.body if isinstance(repeating, Loop) else None
    return isinstance(body, (cst.For, cst.While)) and handles_files(body)


def _is_code(*nodes: object) -> bool:
    """Return whether all of some nodes are nodes of the syntax."""
    return all(isinstance(one, cst.CSTNode) for one in nodes)


def runs_often_in_step(place: Place, scope: Scope, loop: Loop | None) -> bool:
    """Return whether code runs many times in one step: in a loop within a loop over batches, or within `forward`.

    What such code costs is paid once for each layer, each position or each class, not once beside all the work of a
    step. A function that runs for every batch may be that inner code itself, where another such function calls it in a
    loop. Loops over a few known elements do not count, nor does what serves all the iterations of a loop further in.
    """
    repeating = repeater(place, scope, loop)
    if repeating is None:
        return False
    code = repeating.body if isinstance(repeating, Loop) and repeating.scope is scope else scope.body
    nodes = code, place.node
    if all(isinstance(one, cst.CSTNode) for one in nodes) and is_kept_for_inner_loop(*nodes):
        return False
    many = False
    for run in scope.around():
        for one in repeating_loops(run, loop):
            if one.of_batches or (isinstance(one.body, cst.CSTNode) and trains(one.body)):
                return many
            many = True
        if many and run.heat is Heat.HOT:
            return True
    return False


def is_in_branch_of_hot_code(place: Place, scope: Scope, loop: Loop | None) -> bool:
    """Return whether code that is run again and again stands in a branch, so that some of the runs may leave it out.

    The branches that count are those of the function that holds the code, within the loop that runs it if it has one.
    Branches of callers do not count: whole ways to compute something are chosen there.
    """
    repeating = repeater(place, scope, loop)
    body = repeating.body if isinstance(repeating, Loop) and repeating.scope is scope else scope.body
    nodes = body, place.node
    return all(isinstance(one, cst.CSTNode) for one in nodes) and is_in_branch(*nodes)


def _is_rare(loop: Loop, at: Place, trains: bool) -> bool:
    """Return whether a loop reaches some code only now and then, or asks a person for input in each iteration.

    What trains counts even now and then: a second model may be trained in every fifth step.
    """
    if not isinstance(loop.body, cst.CSTNode) or not isinstance(at.node, cst.CSTNode):
        return False
    return asks_for_input(loop.body) or (not trains and runs_now_and_then(loop.body, at.node))


def _is_short(loop: Loop) -> bool:
    """Return whether a loop is known to end after a hundred iterations at most."""
    return isinstance(loop.body, (cst.For, cst.While, cst.CompFor)) and is_short(loop.body)


def _is_once(run: Scope | None) -> bool:
    """Return whether code is called, directly or not, by code that runs once."""
    return run is not None and any(one.heat is Heat.ONCE or one.construction for one in run.around())


def repeating_loops(run: Scope, loop: Loop | None) -> Iterator[Loop]:
    """Yield the loops around some code that run an unknown number of times, and stand in the function of a given run.

    They come from `loop` outwards.
    """
    return (one for one in (loop.around() if loop is not None else ()) if one.scope is run and not one.counted)


def _stands_in(question: Callable[[cst.CSTNode, cst.CSTNode], bool], at: Place, run: Scope) -> bool:
    """Return the answer to a question about where some code stands in the function whose run is given."""
    return isinstance(run.body, cst.CSTNode) and isinstance(at.node, cst.CSTNode) and question(run.body, at.node)
