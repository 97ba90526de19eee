"""DEV503: a synchronisation with nothing to wait for."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.flow.events import Synchronize
from devlint.rule import Finding, Rule
from devlint.story import place_text


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

    ## How it is confirmed at run time
    The recorder sees that the call returned with nothing in flight.

    ## Known limits
    Several streams, and work that other threads launch, are not told apart.
    """

    code = "DEV503"
    name = "redundant-synchronize"
    severity = Severity.INFO
    default = False
    everywhere = True

    def check(self, event: Synchronize) -> Iterator[Finding]:
        """Every synchronisation after a wait, in the same iteration if in a loop."""
        place, loop, waited = event.context.place, event.context.loop, event.waited
        if waited is None or (loop is not None and waited.loop is not loop):
            return
        yield Finding(
            place,
            f"`{place_text(place)}` has nothing to wait for: `{place_text(waited.place)}` has just waited",
            (waited,),
            "leave it out",
        )
