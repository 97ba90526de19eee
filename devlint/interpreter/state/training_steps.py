"""Training steps: the code that runs for every batch that a model is trained on."""

from __future__ import annotations

import libcst as cst

from devlint.domain.heat import Heat
from devlint.domain.placement import Loop, Place, Scope
from devlint.interpreter.program.training_code import runs_now_and_then, takes_training_step, trains
from devlint.interpreter.state.hot_code import repeater, repeating_loops


def is_in_training_step(place: Place, scope: Scope, loop: Loop | None) -> bool:
    """Return whether code runs in each step of a training loop; `scope` is its run, `loop` the innermost loop around.

    A step is an iteration of the loop that runs the backward pass, or a call of a function that runs it and is called
    again and again. What runs only now and then is not in each step, nor is a loop beside the one that trains.
    Comprehensions are parts of the step around them.
    """
    if repeater(place, scope, loop) is None:
        return False
    at: Place | None = place
    run: Scope | None = scope
    while run is not None and at is not None and run.heat is not Heat.ONCE:
        around = next((one for one in repeating_loops(run, loop) if not isinstance(one.body, cst.CompFor)), None)
        code = around.body if around is not None else run.body
        if not isinstance(code, cst.CSTNode) or not isinstance(at.node, cst.CSTNode):
            return False
        if runs_now_and_then(code, at.node):
            return False
        if around is not None or takes_training_step(code) or _is_step_of_framework(run):
            return around is None or takes_training_step(code)
        at, run = run.called_at, run.caller
    return False


def is_in_training(scope: Scope) -> bool:
    """Return whether the code of a run, or of one that has called it, takes training steps: autograd records there."""
    run: Scope | None = scope
    while run is not None:
        if isinstance(run.body, cst.CSTNode) and trains(run.body):
            return True
        if _is_step_of_framework(run):
            return True
        run = run.caller
    return False


def _is_step_of_framework(run: Scope) -> bool:
    """Return whether a method is the training step that a framework such as Lightning calls for each batch."""
    return run.method_of_module and run.name.rpartition(".")[2] == "training_step"
