"""Rule DEV409, which reports a tensor that is copied through a NumPy array or by `torch.tensor`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.domain.placement import Basis, Step, placement_cases
from devlint.domain.value import OriginKind, Tensor
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import numpy_detour_cause
from devlint.explain.costs import frequency_text
from devlint.explain.place_texts import place_text, receiver_text
from devlint.explain.transfer_paths import is_placed_in_function
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_removal import clone_tensor, clone_without_numpy
from devlint.interpreter.state.events import TensorRebuilt
from devlint.rule import Finding, Rule


class NumpyRoundTrip(Rule):
    """A tensor is turned into an array, or handed to `torch.tensor`, only to become a tensor again.

    ## What it does
    Finds `torch.tensor(t.cpu().numpy())` and `torch.from_numpy(t.numpy())` with nothing in between, and
    `torch.tensor(t)` of a tensor. Both are an information: a tensor of the host shares its memory with the array, and
    what has come from an accelerator is mostly drawn or logged.

    ## Why is this bad?
    Through NumPy the values travel to the host, where they are waited for, and back. `torch.tensor(t)` copies, leaves
    autograd and warns: "it is recommended to use sourceTensor.detach().clone()".

    ## Example
    ```python
    import torch

    def keep(model, batches):
        kept = []
        for batch in batches:
            scores = model(torch.rand(8, device="cuda"))
            kept.append(torch.tensor(scores.cpu().numpy(), device="cuda"))
        return kept
    ```

    ## Use instead
    ```python
    import torch

    def keep(model, batches):
        kept = []
        for batch in batches:
            scores = model(torch.rand(8, device="cuda"))
            kept.append(scores.detach().clone())
        return kept
    ```

    ## Fix safety
    `torch.tensor(t)` becomes `t.detach().clone()`, which is what torch's warning asks for: safe where the function
    itself has made the tensor, and unsafe where others may call it with a list. Where NumPy lay in between, the tensor
    is copied without it; unsafe, for it may be meant to compute there some day. An array that has a name is not
    followed.

    ## How it is confirmed at run time
    The recorder sees the read to the host and the new tensor made from the same values.

    ## Known limits
    An array that NumPy computes with in between is not reported, even where torch could compute the same. What DEV401
    warns of is not told twice.
    """

    code = "DEV409"
    name = "numpy-round-trip"
    fixable = True
    severity = Severity.WARNING

    def check(self, event: TensorRebuilt) -> Iterator[Finding]:
        """Yield a finding for a tensor that is made from another tensor, directly or by way of a NumPy array."""
        if isinstance(event.source, Tensor):
            if event.function == "torch.tensor" and _is_surely_tensor(event.source):
                yield self._copy(event)
        elif event.only_use and event.origin is not None and event.origin.kind is OriginKind.TENSOR:
            yield self._round_trip(event, event.origin.step)

    def _copy(self, event: TensorRebuilt) -> Finding:
        """Return the finding for a call of `torch.tensor` whose argument is already a tensor."""
        return Finding(
            event.context.place,
            f"`{place_text(event.context.place)}` copies a tensor, and torch warns of it",
            help="say what is meant: `.detach().clone()` for a copy, the tensor itself otherwise",
            assumptions=assumptions(event),
            severity=Severity.INFO,
            make_fix=partial(_fix, event),
        )

    def _round_trip(self, event: TensorRebuilt, read: Step) -> Finding:
        """Return the finding for a tensor that is made from a NumPy array which itself was read from a tensor.

        `read` is the step of the array's history in which the array was read from the tensor.
        """
        place, context = event.context.place, event.context
        return Finding(
            place,
            f"`{receiver_text(read.place)}` becomes a NumPy array and a tensor again{frequency_text(context)}:"
            " a detour that changes nothing",
            (replace(read, message=f"`{receiver_text(read.place)}` {read.message}"),) if read.place != place else (),
            "stay in torch: `.detach().clone()` copies without NumPy",
            assumptions(event),
            Severity.INFO,
            cause=numpy_detour_cause(place),
            make_fix=partial(_fix, event),
        )


def _fix(event: TensorRebuilt, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV409: copy the tensor by `.detach().clone()`."""
    region, call = context.region_at(event.context.place), node_at(event.context.place)
    if not isinstance(event.source, Tensor):
        return clone_without_numpy(region, call)
    made_here = all(is_placed_in_function(event.context, leaf) for _, leaf in placement_cases(event.source.placement))
    return clone_tensor(region, call, Applicability.SAFE if made_here else Applicability.UNSAFE)


def _is_surely_tensor(tensor: Tensor) -> bool:
    """Return whether an abstract value that is used as a tensor is certainly one at run time.

    An argument of a function may be a list at run time.
    """
    return all(leaf.basis is not Basis.CALLER for _, leaf in placement_cases(tensor.placement))
