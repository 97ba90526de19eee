"""Rule DEV503, which reports a synchronization with the accelerator where there is no work to wait for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Applicability, Fix, Severity
from devlint.explain.place_texts import place_text
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.transfer_removal import remove_call_statement
from devlint.interpreter.state.events import Synchronize
from devlint.rule import Finding, Rule


class RedundantSynchronize(Rule):
    """`synchronize()` is called where the host has just waited for everything.

    ## What it does
    Finds `torch.cuda.synchronize()` directly after something that has already waited (`.cpu()`, `.item()`, another
    `synchronize()`), with nothing launched since.

    ## Why is this bad?
    It does no harm, but it tells the reader that there is something to wait for. Where a time is measured, it is
    often the sign that the wait stands on the wrong side of the clock.

    ## Example
    ```python
    import torch

    scores = torch.rand(1000, device="cuda")
    best = scores.max().item()
    torch.cuda.synchronize()
    ```

    ## Use instead
    ```python
    import torch

    scores = torch.rand(1000, device="cuda")
    best = scores.max().item()
    ```

    ## Fix safety
    The statement is left out. Unsafe: another stream or thread, which devlint does not see, may have had work in
    flight.

    ## How it is confirmed at run time
    The recorder sees that the call returned with nothing in flight.

    ## Known limits
    Several streams, and work that other threads launch, are not told apart.
    """

    code = "DEV503"
    name = "redundant-synchronize"
    fixable = True
    severity = Severity.INFO
    default = False
    everywhere = True

    def check(self, event: Synchronize) -> Iterator[Finding]:
        """Yield a finding for a synchronization before which the host has already waited, with no work launched since.

        In a loop, both must happen within the same iteration.
        """
        place, loop, waited = event.context.place, event.context.loop, event.waited
        if waited is None or (loop is not None and waited.loop is not loop):
            return
        yield Finding(
            place,
            f"`{place_text(place)}` has nothing to wait for: `{place_text(waited.place)}` has just waited",
            (waited,),
            "leave it out",
            make_fix=partial(_fix, event),
        )


def _fix(event: Synchronize, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV503: remove the synchronization."""
    edit = remove_call_statement(context.region_at(event.context.place), node_at(event.context.place))
    return Fix("Leave the synchronization out", Applicability.UNSAFE, (edit,))
