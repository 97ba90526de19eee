"""The cost of an event in words and by severity: how much is moved, how often, and whether that matters."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Severity
from devlint.domain.dtype import Dtype
from devlint.domain.extent import Extent
from devlint.domain.heat import Heat
from devlint.domain.path_conditions import NO_CONDITION, PathCondition
from devlint.domain.placement import Loop, Place
from devlint.explain.assumptions import chooses_device
from devlint.explain.place_texts import place_text
from devlint.interpreter.program.inner_loops import goes_over_range
from devlint.interpreter.state.events import EventContext

_LONGEST_SIZE = 16
"""The number of characters that a text of one size may have."""


def cost_severity(context: EventContext, *, little: bool = False) -> Severity | None:
    """Return the severity of a finding about cost: info where the cost hardly matters, else None (that of the rule).

    It hardly matters outside of hot code and in a short loop of known length that runs once; where it is known to be
    `little`; where it is paid once for all the iterations of an inner loop; and where each iteration reads or writes a
    file. Nor is it known to matter in a branch that the hot code may never take.
    """
    small = little or not context.many_times or context.paid_for_inner_loop or context.beside_files
    if small or _may_be_left_out(context):
        return Severity.INFO
    return None


def runs_in_step(context: EventContext) -> bool:
    """Return whether code runs in the steps of a training, or in a function that is called for each batch or request.

    An evaluation or a loop of another kind runs now and then, or once: what it costs hardly ever shows.
    """
    return context.in_training_step or any(run.heat is Heat.HOT for run in context.scope.around())


def is_only_counted(context: EventContext) -> bool:
    """Return whether only loops over ranges of numbers repeat code, and it neither trains nor runs for a request.

    Such a loop prepares, samples or tries something; that mostly takes longer than a copy.
    """
    repeater = context.repeater
    if not isinstance(repeater, Loop) or runs_in_step(context) or context.often_in_step:
        return False
    return all(map(_goes_over_range, repeater.around()))


def _goes_over_range(loop: Loop) -> bool:
    """Return whether a loop goes over a range of numbers."""
    return isinstance(loop.body, (cst.For, cst.CompFor)) and goes_over_range(loop.body.iter)


def _may_be_left_out(context: EventContext) -> bool:
    """Return whether an event is in a branch of the hot code, under a condition that does not choose the device."""
    start = context.repeater.path_condition if isinstance(context.repeater, Loop) else NO_CONDITION
    return context.in_branch and not is_always_paid(context.path_condition - start)


def frequency_text(context: EventContext) -> str:
    """Return how often the code of an event runs, as the end of a sentence: ` for every batch`.

    Empty for code that is not known to run again and again.
    """
    repeater = context.repeater
    if repeater is None:
        return ""
    if isinstance(repeater, Loop):
        return " for every batch" if repeater.of_batches else " in every iteration"
    return f" in every call of `{repeater.name.rpartition('.')[2]}`"


def extent_text(extent: Extent | None, dtype: Dtype) -> str:
    """Return how large a tensor is as the end of a sentence: ` ([B, T, N] float32)`; empty where that is not known.

    Sizes that are no numbers stand there in the words of the program.
    """
    if extent is None or None in extent.sizes or not extent.sizes:
        return ""
    sizes = [place_text(one, _LONGEST_SIZE) if isinstance(one, Place) else str(one) for one in extent.sizes]
    if extent.is_open:
        sizes.append("...")
    return f" ([{', '.join(sizes)}]{f' {dtype.name}' if dtype.name is not None else ''})"


def is_always_paid(path_condition: PathCondition) -> bool:
    """Return whether a cost with these conditions is paid wherever an accelerator is used.

    Messages about cost name no conditions: that an accelerator is available, and asked for, goes without saying.
    """
    return all(map(chooses_device, path_condition))
