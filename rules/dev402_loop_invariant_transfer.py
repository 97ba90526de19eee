"""Rule DEV402, which reports a loop that transfers the same tensor to the same device in every iteration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import AssumptionKind, Fix, Severity
from devlint.domain.device import DeviceSymbol, is_accelerator
from devlint.domain.path_conditions import Conjunction, Literal
from devlint.domain.placement import Assumption, Basis, Place, PlacementCase, Step, StepKind, placement_cases
from devlint.explain.assumptions import assumptions, supposed_batches
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.costs import cost_severity, extent_text, runs_in_step
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import callee_text, place_text
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_hoisting import hoist_transfer
from devlint.interpreter.state.events import Event, RepeatedTransfer, Transfer
from devlint.rule import Finding, Rule


class LoopInvariantTransfer(Rule):
    """The same tensor is transferred to the same device in every iteration of a loop.

    ## What it does
    Finds transfers from the host in a loop whose tensor and whose target are the same in each iteration. A tensor of
    unknown origin counts if the program names the accelerator to which it moves it. It is a warning for tensors that
    are known to be large, by their factory or as the batch of a loader, in the steps of a training and in what runs for
    each request, such as `forward`. All else is only an information, and so is what serves all iterations of a further
    loop, in what the loop calls too. Of the parts of one batch, the first is reported.

    ## Why is this bad?
    Each iteration copies the same bytes again. A transfer that names nothing the loop changes can stand before the
    loop.

    ## Example
    ```python
    import torch

    weights = torch.rand(1000, 1000)
    scale = torch.ones(1000, device="cuda", requires_grad=True)
    for batch in torch.rand(10, 5, 1000, device="cuda"):
        (batch * scale @ weights.to("cuda")).sum().backward()
    ```

    ## Use instead
    ```python
    import torch

    weights = torch.rand(1000, 1000).to("cuda")
    scale = torch.ones(1000, device="cuda", requires_grad=True)
    for batch in torch.rand(10, 5, 1000, device="cuda"):
        (batch * scale @ weights).sum().backward()
    ```

    ## Fix safety
    The transfer is made before the outermost loop in which neither tensor nor device changes, under a name of its own
    if it has none. Unsafe: it is then made also where the loop never runs. There is no fix where the loop makes it
    under a condition, or writes to what was moved.

    ## How it is confirmed at run time
    The recorder counts the transfers of each line and the bytes they moved.

    ## Known limits
    A tensor that the loop changes in place is another value each time, and a module that has moved once stays where
    it is; neither is reported, nor are transfers whose receiver is a call. A function that moves what it is given is
    followed to the loop that calls it; what the loop hands over must be a name, an attribute or a view of one.
    """

    code = "DEV402"
    name = "loop-invariant-transfer"
    fixable = True
    severity = Severity.WARNING
    everywhere = True

    def place_of(self, event: Event) -> Place:
        """Return the code in a loop that repeats a transfer; the place of the transfer where no loop does."""
        repetition = event.repetition if isinstance(event, (Transfer, RepeatedTransfer)) else None
        return repetition.place if repetition is not None else event.context.place

    def check(self, event: Transfer | RepeatedTransfer) -> Iterator[Finding]:
        """Yield a finding for a transfer that moves the same tensor in every iteration of a loop."""
        repetition = event.repetition
        if repetition is None:
            return
        in_loop = repetition.path_condition - repetition.loop.path_condition
        in_function = event.context.path_condition - repetition.path_condition
        if not all(map(_holds_throughout, in_loop)) or not all(_is_about(one, "available") for one in in_function):
            return
        if isinstance(event, RepeatedTransfer):
            yield from _of_unknown_origin(event, repetition.place)
            return
        if event.is_module or event.parameter or not event.moves:
            return
        path = next((path for path in transfer_paths(event) if path.leaves_host), None)
        if path is not None:
            yield _finding(event, repetition.place, "from the host ", path.after, path.before)
        elif all(map(_is_callers, transfer_paths(event))):
            yield from _of_unknown_origin(event, repetition.place)


def _of_unknown_origin(event: Transfer | RepeatedTransfer, place: Place) -> Iterator[Finding]:
    """Yield a finding for the transfer of a tensor of unknown origin, if it goes to an accelerator.

    The program would not move it there if it were there already. A module's input may well be there.
    """
    if event.context.scope.method_of_module:
        return
    for _, leaf in placement_cases(event.after, event.context.path_condition):
        if is_accelerator(leaf.device):
            yield _finding(event, place, "", leaf)
            return


def _finding(
    event: Transfer | RepeatedTransfer,
    place: Place,
    origin: str,
    after: PlacementCase,
    before: PlacementCase | None = None,
) -> Finding:
    """Return the finding for a transfer; `before` is where the tensor is before, if that is known.

    `place` is the code in the loop that is to blame: the transfer, or the call of the function that holds it.
    """
    receiver = place_text(event.receiver)
    size = ""
    if isinstance(event, Transfer) and event.fresh is not None:
        size = extent_text(event.fresh.extent, event.dtype_before)
    unknown = Assumption(AssumptionKind.TENSOR, f"`{receiver}` is a tensor on another device", event.receiver)
    steps = placement_steps((f"`{receiver}`", before)) if before is not None else ()
    message = f"`{receiver}` is moved {origin}to {device_text(after)} again in every iteration{size}"
    help_ = f"move `{receiver}` once, before the loop"
    if place != event.context.place:
        steps = (*steps, Step(StepKind.PASSED, f"`{place_text(event.context.place)}` moves it", event.context.place))
        message = (
            f"`{place_text(place)}` moves the same tensor {origin}to {device_text(after)} in every iteration{size}"
        )
        help_ = f"call `{callee_text(place)}` once, before the loop"
    return Finding(
        place,
        message,
        steps,
        help_,
        assumptions(event, before, after) if before is not None else (unknown,),
        cost_severity(event.context, little=not (_is_known_to_be_large(event, before) and runs_in_step(event.context))),
        subject=_batch_of(event, before),
        make_fix=partial(_fix, event) if place == event.context.place else None,
    )


def _is_known_to_be_large(event: Transfer | RepeatedTransfer, before: PlacementCase | None) -> bool:
    """Return whether a tensor that is moved is known to have many elements: by its factory, or as a loader's batch."""
    if not isinstance(event, Transfer) or event.number_or_vector:
        return False
    if event.fresh is not None and event.fresh.extent is not None:
        return not event.few_elements
    return before is not None and bool(supposed_batches(before))


def _batch_of(event: Transfer | RepeatedTransfer, before: PlacementCase | None) -> Place | None:
    """Return the loop that moves the batch of a loader again and again, which stands for all parts of the batch."""
    batch = before is not None and supposed_batches(before)
    return event.repetition.loop.place if batch and event.repetition is not None else None


def _is_callers(path: TransferPath) -> bool:
    """Return whether the caller has chosen on which device a tensor is before its transfer."""
    return isinstance(path.before.device, DeviceSymbol) and path.before.basis is Basis.CALLER


def _fix(event: Transfer | RepeatedTransfer, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV402: move the transfer before the loop."""
    return hoist_transfer(context.region_at(event.context.place), node_at(event.context.place))


def _holds_throughout(test: Literal) -> bool:
    """Return whether a condition in a loop has the same result in each iteration.

    That is known of a test for a device's availability and of a test of an option.
    """
    return _is_about(test, "available", "true")


def _is_about(test: Literal, *kinds: str) -> bool:
    """Return whether a condition consists of tests of the given kinds, which the keys of formulas name."""
    formula = test.formula
    if isinstance(formula, Conjunction):
        return all(_is_about(one, *kinds) for one in formula.tests)
    return isinstance(formula.key, tuple) and formula.key[0] in kinds
