"""Rule DEV203, which reports a function that moves its argument and does not use, store or return the result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.place_texts import place_text
from devlint.explain.transfer_paths import cases_if_unconditional
from devlint.fixes.argument_returns import return_moved_arguments
from devlint.fixes.fix_context import FixContext, NoFix
from devlint.interpreter.state.events import UnusedRebinding
from devlint.rule import Finding, Rule


class ReboundArgument(Rule):
    """A function rebinds its argument to the moved tensor and neither uses, stores nor returns it.

    ## What it does
    Finds `x = x.to(device)` where `x` is an argument and nothing in the function reads `x` afterwards.

    ## Why is this bad?
    The argument is a name of the function. The caller's tensor is not moved, and the moved one is lost when the
    function returns.

    ## Example
    ```python
    import torch

    def to_accelerator(noise: torch.Tensor, labels: torch.Tensor):
        noise = noise.cuda()
        labels = labels.cuda()

    noise, labels = torch.randn(8, 3), torch.ones(8)
    to_accelerator(noise, labels)
    ```

    ## Use instead
    ```python
    import torch

    def to_accelerator(noise: torch.Tensor, labels: torch.Tensor):
        return noise.cuda(), labels.cuda()

    noise, labels = torch.randn(8, 3), torch.ones(8)
    noise, labels = to_accelerator(noise, labels)
    ```

    ## Fix safety
    The function returns what it has moved, and every call of it in the same file takes that: unsafe, for calls in
    other files must be changed by hand.

    ## How it is confirmed at run time
    The recorder sees the moved tensor die when the function returns, unused.

    ## Known limits
    Arguments that may be modules or containers, which move in place, are not reported, nor is a function that returns
    something else: what it moves and leaves unused, nobody misses.
    """

    code = "DEV203"
    fixable = True
    name = "rebound-argument"
    severity = Severity.WARNING

    def check(self, event: UnusedRebinding) -> Iterator[Finding]:
        """Yield a finding for a function argument that is assigned its moved tensor and is not read again."""
        if event.loop is not None:
            return
        call = event.context.place
        yield Finding(
            call,
            f"the tensor that `{place_text(call)}` returns is lost: the caller's `{event.name}` is not moved",
            steps_elsewhere(
                placement_steps(*((f"`{event.name}`", one) for one in cases_if_unconditional(event.tensor))), call
            ),
            f"return `{event.name}`, and assign it at each call",
            assumptions(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: UnusedRebinding, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV203: return the moved argument to the caller."""
    region, call = context.region_at(event.context.place), event.context.place.node
    if not isinstance(call, cst.CSTNode):
        raise NoFix
    return return_moved_arguments(context, region, call)
