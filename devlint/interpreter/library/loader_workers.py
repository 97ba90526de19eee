"""Worker processes of data loaders: what they run must not touch the accelerator, as they are forked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import libcst as cst

from devlint.diagnostic import AssumptionKind
from devlint.domain.device import is_accelerator
from devlint.domain.objects import Instance
from devlint.domain.path_conditions import PathCondition
from devlint.domain.placement import Assumption, Place, Placement, PlacementCase, Step, StepKind, placement_cases
from devlint.domain.value import NONE, Const, Unknown, Value, as_tensor
from devlint.interpreter.objects.contained_tensors import contained_tensors
from devlint.interpreter.state.events import AcceleratorInWorker, Event, Transfer
from devlint.interpreter.state.frame import Frame

MADE: Final = "the call that made it"
"""The attribute of a modelled loader whose provenance is the call of its class; no attribute of a program has the name.
"""


def run_in_worker(frame: Frame, loader: Instance, node: cst.BaseExpression, make_batch: Callable[[], Value]) -> Value:
    """Return the batch that a loader yields to a loop at `node`, and report what touches the accelerator in its making.

    Nothing is reported where the loader has no forked workers.
    """
    workers = _forked_workers(frame, loader, node)
    if workers is None:
        return make_batch()
    transfers: list[Transfer] = []
    listener = frame.analysis.listener

    def watch(event: Event) -> None:
        if isinstance(event, Transfer):
            transfers.append(event)
        listener(event)

    frame.analysis.listener = watch
    try:
        batch = make_batch()
    finally:
        frame.analysis.listener = listener
    touched = next((one for one in (*_by_transfers(frame, transfers), *_by_tensors(frame, batch))), None)
    if touched is not None:
        place, case, when = touched
        frame.emit(AcceleratorInWorker(frame.event_context(node), place, case, workers, when))
    return batch


def _forked_workers(frame: Frame, loader: Instance, node: cst.BaseExpression) -> Step | None:
    """Return the step that gives a loader worker processes, which are forked as far as the program tells.

    None for a loader that has none, or of which that is not known.
    """
    entry, made = frame.analysis.torch_defaults.entry_module, loader.attributes.get(MADE)
    context = loader.attributes.get("multiprocessing_context", NONE)
    if context not in (NONE, Const("fork")) or not isinstance(made, Unknown) or made.provenance is None:
        return None
    if entry is None or frame.analysis.facts.default_setters.may_set_start_method(entry):
        return None
    count: object = None
    assumed: Assumption | None = None
    place = made.provenance.place
    match loader.attributes.get("num_workers"):
        case Const(value=count):
            pass
        case Unknown(origin=("option", _, _, Const(value=count), _), text=text):
            assumed = Assumption(AssumptionKind.OPTION, f"`{text}` has its default", place)
    if type(count) is not int or count <= 0:
        return None
    return Step(StepKind.PASSED, "the loader runs its dataset in worker processes", place, assumption=assumed)


def _by_transfers(frame: Frame, transfers: list[Transfer]) -> Iterator[tuple[Place, PlacementCase, PathCondition]]:
    """Yield what puts tensors on an accelerator that are moved there, or from there, while a batch is made."""
    for event in transfers:
        path_condition = event.context.path_condition
        moves = ((event.after, event.context.place), (event.before, None)) if event.moves else ()
        for placement, place in moves:
            for at, case, when in _on_accelerator(placement, path_condition, place):
                yield at, case, when | (path_condition - frame.state.path_condition)


def _by_tensors(frame: Frame, batch: Value) -> Iterator[tuple[Place, PlacementCase, PathCondition]]:
    """Yield what puts the tensors of a batch on an accelerator."""
    for one in contained_tensors(frame, (batch,)):
        tensor = as_tensor(one)
        if tensor is not None:
            yield from _on_accelerator(frame.resolve(tensor).placement, frame.state.path_condition, None)


def _on_accelerator(
    placement: Placement, path_condition: PathCondition, place: Place | None
) -> Iterator[tuple[Place, PlacementCase, PathCondition]]:
    """Yield the cases of a placement that are an accelerator, with what puts the tensor there, and their conditions.

    `place` is what puts the tensor there; None for what its history says.
    """
    for when, leaf in placement_cases(placement, path_condition):
        step = leaf.placing_step
        if is_accelerator(leaf.device) and (place is not None or step is not None):
            at = place if place is not None else step.place if step is not None else None
            assert at is not None
            yield at, leaf, when
