"""Causes of findings: which findings are one bug, because the same change of the program mends them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from devlint.diagnostic import AssumptionKind
from devlint.domain.dtype import Dtype
from devlint.domain.placement import Place, Scope, Step
from devlint.explain.place_texts import callee_text, place_text
from devlint.interpreter.state.events import DeviceConflict, EventContext


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a finding, equal for all findings that the same change of the program mends.

    `recurs` tells whether the other findings stay true where the first operation did not raise, so that its trace names
    their places.
    """

    key: Hashable
    recurs: bool


def conflict_cause(event: DeviceConflict) -> Cause | None:
    """Return the cause of a device conflict, equal for the conflicts which the same change would mend.

    They are those of the same misplaced tensor, in whatever functions it is used; but of one that a file makes at its
    top level, each function that reads it moves its own copy. If a part of a module is misplaced, the module was not
    moved, and all its parts are: the conflicts of all its calls in one function or class are then one bug. Returns None
    if nothing is known of the cause, and for elements of a data loader: the parts of a batch come from one source
    location, but each of them is moved by itself.
    """
    context, misplaced, step = event.context, event.misplaced, event.misplaced.case.placing_step
    module_call = next((call.place for call in context.calls if call.is_module), None)
    if misplaced.is_part_of_module and module_call is not None:
        called = module_call.filename, _definition_around(module_call, context.scope), callee_text(module_call)
        return Cause(("a module", *called, built_at(step) or module_call), recurs=True)
    if step is None or (step.assumption is not None and step.assumption.kind is AssumptionKind.LOADER):
        return None
    user = (context.scope.filename, context.scope.name) if step.scope is None or step.scope.entry else ()
    return Cause(("a misplaced tensor", *user, step.place), recurs=True)


def host_read_cause(context: EventContext, operand: Place, step: Step | None) -> Cause | None:
    """Return the cause of the reads of one tensor in one function that need the host; None if it is not known.

    At a file's top level, each read is one by itself. `operand` is the tensor's expression, `step` what put it on its
    device.
    """
    if step is None or context.scope.entry:
        return None
    function = context.scope.filename, context.scope.name
    return Cause(("read on the host", *function, place_text(operand), step.place), recurs=True)


def _definition_around(call: Place, scope: Scope) -> str:
    """Return the name of the function or class at module level that holds a call on the stack of a run.

    Empty at module level itself.
    """
    run: Scope | None = scope
    while run is not None and run.called_at != call:
        run = run.caller
    around = run.caller if run is not None and run.caller is not None else scope
    return around.name.partition(".")[0]


def built_at(step: Step | None) -> Place | None:
    """Return where the program builds the outermost module to which what a step has made belongs; None if unknown."""
    place, run = (step.place, step.scope) if step is not None else (None, None)
    while run is not None and run.construction:
        place, run = run.called_at or place, run.caller
    return place


def numpy_detour_cause(rebuilt: Place) -> Cause:
    """Return the cause of what is said of a tensor that is made of an array which was read from a tensor at once."""
    return Cause(("a detour through NumPy", rebuilt), recurs=False)


def dtype_cause(dtype: Dtype) -> Cause | None:
    """Return the cause of all operations that refuse a dtype, by what has made it; None if that is unknown."""
    made = dtype.made or dtype.provenance
    return None if made is None else Cause(("a refused dtype", made.place), recurs=True)
