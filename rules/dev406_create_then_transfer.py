"""Rule DEV406, which reports a tensor that is created on the host only to be transferred to another device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.device import UNKNOWN_DEVICE, is_host
from devlint.domain.dtype import UNKNOWN_DTYPE, Dtype
from devlint.domain.placement import Place, PlacementCase, Step, placement_cases
from devlint.domain.value import FactoryOrigin, OriginKind
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import device_written, placement_steps
from devlint.explain.costs import cost_severity, extent_text, frequency_text, is_only_counted
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import callee_text, is_within, place_text, receiver_text
from devlint.explain.transfer_paths import TransferPath, transfer_paths
from devlint.fixes.call_edits import find_argument
from devlint.fixes.factory_devices import create_on_target
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.state.events import EventContext, TensorRebuilt, Transfer
from devlint.rule import Finding, Rule


class CreateThenTransfer(Rule):
    """A tensor is created on the host and then moved to the device it could have been created on.

    ## What it does
    Finds tensors that a torch factory makes from nothing (`zeros`, `arange`, `randn`, ...), and random numbers that
    NumPy draws in each call or iteration, where the same function moves them to another device. It is a warning where
    the copy shows beside the rest of a step: in code that runs again and again, for a tensor whose sizes are numbers
    that make 262,144 elements (a megabyte of float32), or for one with three sizes that are not known to be under 16,
    made many times in one step: in a loop within `forward`, a training step or a loop over batches. All else is only an
    information, and so is what a loop over a range of numbers makes that trains nothing: readers of such findings in
    public code found most of them too small to care.

    ## Why is this bad?
    The host makes memory that is only copied, and waits for the copy. With `device=` the tensor is made where it is
    needed.

    ## Example
    ```python
    import torch

    def train(model, optimizer, steps: int):
        for _ in range(steps):
            model(torch.randn(16, 3, 224, 224).to("cuda")).mean().backward()
            optimizer.step()
    ```

    ## Use instead
    ```python
    import torch

    def train(model, optimizer, steps: int):
        for _ in range(steps):
            model(torch.randn(16, 3, 224, 224, device="cuda")).mean().backward()
            optimizer.step()
    ```

    ## Fix safety
    The factory is given the device, and the transfer is left out. Safe where the values are the same on every
    device; unsafe for random numbers, which are others there, and for numbers that torch then draws in NumPy's place.

    ## How it is confirmed at run time
    The recorder notes where each tensor was created, and the bytes of its transfer.

    ## Known limits
    Random numbers made on an accelerator come from another generator and are other numbers: where a seed must give
    the same numbers on every device, creating them on the host is right; a factory with `generator=` is not reported,
    nor is what a NumPy generator draws.
    Tensors made from Python data are copied either way. Sizes are those that the factory's call names.
    """

    code = "DEV406"
    name = "create-then-transfer"
    fixable = True
    severity = Severity.WARNING

    def __init__(self) -> None:
        self._reused_rebuilds: set[Place] = set()

    def check(self, event: Transfer | TensorRebuilt) -> Iterator[Finding]:
        """Yield a finding for a transfer of a tensor just created by a torch factory, or of NumPy's random numbers."""
        if isinstance(event, TensorRebuilt) and not event.only_use:
            self._reused_rebuilds.add(event.context.place)
            return
        fresh = event.fresh if isinstance(event, Transfer) else event.origin
        # Where a generator object draws the numbers, the program wants that generator's sequence.
        if fresh is None or fresh.kind in (OriginKind.TENSOR, OriginKind.GENERATOR):
            return
        if not _created_here(event.context, fresh):
            return
        if _draws_from_generator(fresh):
            return
        if isinstance(event, TensorRebuilt):
            targets = [
                leaf
                for _, leaf in placement_cases(event.placement, event.context.path_condition)
                if not is_host(leaf.device)
            ]
            if targets and targets[0].device != UNKNOWN_DEVICE and _is_drawn_again(event.context, fresh):
                yield _finding(event, fresh, targets[0], (fresh.step,), UNKNOWN_DTYPE)
        elif event.moves and not (event.pinned or event.is_module or event.grad):
            path = next((path for path in transfer_paths(event) if path.leaves_host), None)
            if path is not None and self._is_only_moved(event, path, fresh):
                yield _finding(
                    event,
                    fresh,
                    path.after,
                    placement_steps((f"`{place_text(event.receiver)}`", path.before)),
                    event.dtype_before,
                )

    def _is_only_moved(self, event: Transfer, path: TransferPath, fresh: FactoryOrigin) -> bool:
        """Return whether nothing but its transfer uses the tensor that a factory call created.

        That holds for a tensor of a torch factory, and for random numbers of NumPy that nothing else reads.
        """
        made = path.before.placing_step
        if made is None or made.place == fresh.step.place:
            return True
        return made.place not in self._reused_rebuilds and _is_drawn_again(event.context, fresh)


def _is_drawn_again(context: EventContext, fresh: FactoryOrigin) -> bool:
    """Return whether a factory call draws new random numbers in each call of a function or each iteration of a loop.

    Random numbers that a script draws only once count as data and not as new numbers.
    """
    return fresh.kind is OriginKind.RANDOM and (
        context.loop is not None or context.scope.method_of_module or context.symbolic
    )


def _created_here(context: EventContext, fresh: FactoryOrigin) -> bool:
    """Return whether a tensor was created in the same function call as its transfer, and in the same loop."""
    step, loop = fresh.step, context.loop
    if step.scope is not context.scope:
        return False
    return loop is None or (step.loop is not None and any(one.place == loop.place for one in step.loop.around()))


def _draws_from_generator(fresh: FactoryOrigin) -> bool:
    """Return whether a factory call has a `generator` argument. Its tensor is then made on the generator's device."""
    call = fresh.step.place.node
    return isinstance(call, cst.Call) and find_argument(call, "generator") is not None


def _finding(
    event: Transfer | TensorRebuilt,
    fresh: FactoryOrigin,
    target: PlacementCase,
    steps: tuple[Step, ...],
    dtype: Dtype,
) -> Finding:
    """Return the finding for a tensor that a factory call creates on the host and that then goes to `target`."""
    place = event.context.place
    apart = isinstance(event, Transfer) and not is_within(fresh.step.place, place)
    made = receiver_text(place) if apart else place_text(fresh.step.place)
    written = device_written(place)
    # The name of a device says more than "the caller's device", and than one of those that it may hold.
    there = f"`{written}`" if written is not None and written[-1] not in "'\"" else device_text(target)
    random = " (it then draws other random numbers)" if fresh.kind is OriginKind.RANDOM else ""
    made_in = replace(event.context, place=fresh.step.place, loop=fresh.step.loop)
    often = event.context if made_in.hot else made_in  # What is made once and kept is also copied once.
    return Finding(
        place,
        f"`{made}` is made on the host and then copied to {there}{frequency_text(often)}"
        f"{extent_text(fresh.extent, dtype)}",
        tuple(step for step in steps if not is_within(step.place, place)),
        f"create it there: {_advice(event, fresh)}{random}",
        assumptions(event, target),
        cost_severity(often, little=not _shows(often, fresh)),
        make_fix=partial(_fix, event, fresh),
    )


def _shows(context: EventContext, fresh: FactoryOrigin) -> bool:
    """Return whether the copy of a fresh tensor shows beside the rest of a step: huge, or large and made often."""
    extent = fresh.extent
    if extent is None or is_only_counted(context):
        return False
    return extent.is_huge or (extent.is_large and context.often_in_step)


def _fix(event: Transfer | TensorRebuilt, fresh: FactoryOrigin, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV406: create the tensor on the target device of its transfer.

    Raises NoFix for a tensor that is rebuilt from an array of NumPy.
    """
    if isinstance(event, TensorRebuilt):
        raise NoFix
    return create_on_target(context, event.context.place, fresh)


def _advice(event: Transfer | TensorRebuilt, fresh: FactoryOrigin) -> str:
    """Return the advice for a finding of DEV406: how the factory makes the tensor on the target device."""
    device, factory = device_written(event.context.place), callee_text(fresh.step.place)
    if isinstance(event, TensorRebuilt) or device is None:
        return "by a torch factory with its device"
    return f"pass `device={device}` to `{factory}`"
