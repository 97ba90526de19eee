"""Rule DEV501, which reports a clock that is read while the accelerator may still be computing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Step, StepKind
from devlint.explain.assumptions import assumptions
from devlint.explain.place_texts import place_text
from devlint.explain.suggestions import places_in_loop
from devlint.fixes.fix_context import FixContext
from devlint.fixes.synchronization_fixes import synchronize_before_clock
from devlint.interpreter.state import events
from devlint.rule import Finding, Rule


class UnsynchronizedTiming(Rule):
    """A clock is read around accelerator work that nothing has waited for.

    ## What it does
    Finds two clock reads whose difference is taken, with work launched on an accelerator between them and nothing in
    between that waits for that work.

    ## Why is this bad?
    Calls on an accelerator return when the work is queued. The clock then measures the time to queue it, often a
    hundredth of the time it takes, and a later line that happens to wait is charged for the rest.

    ## Example
    ```python
    import time

    import torch

    def measure():
        a = torch.rand(4096, 4096, device="cuda")
        start = time.perf_counter()
        b = a @ a
        print(time.perf_counter() - start)

    measure()
    ```

    ## Use instead
    ```python
    import time

    import torch

    def measure():
        a = torch.rand(4096, 4096, device="cuda")
        torch.cuda.synchronize()
        start = time.perf_counter()
        b = a @ a
        torch.cuda.synchronize()
        print(time.perf_counter() - start)

    measure()
    ```

    ## Fix safety
    `torch.cuda.synchronize()` is put before both readings of the clock, where there is room for it, under a check of
    availability. Unsafe: waiting costs time itself, and where the two are far apart the wait may belong elsewhere.

    ## How it is confirmed at run time
    The recorder notes launches, waits and clock reads in the order in which they happen.

    ## Known limits
    Work launched before the first clock read and still running is not reported; `.item()`, `.cpu()`, `print` and the
    like count as waiting. A clock that was started before a loop, or in the iteration before, tells of its progress
    and is not reported. Times that are only written down, and subtracted elsewhere, are not followed.
    """

    code = "DEV501"
    name = "unsynchronized-timing"
    fixable = True
    severity = Severity.WARNING

    def check(self, event: events.UnsynchronizedTiming) -> Iterator[Finding]:
        """Yield a finding for a time measurement that does not wait for work on the accelerator.

        That is a difference of two clock reads between which work was launched and not waited for. A loop that reports
        its progress by the clock is not reported.
        """
        clock, loop = event.context.place, event.context.loop
        if loop is not None:
            written = places_in_loop(loop.place, event.started, clock)
            if clock in written and written != [event.started, clock]:
                return
        yield Finding(
            clock,
            f"The clock is read while `{place_text(event.work.place)}` may still be running on the accelerator",
            (Step(StepKind.PASSED, "the clock is started", event.started), event.work),
            f"wait before `{place_text(clock)}`: `torch.cuda.synchronize()`",
            assumptions(event),
            subject=clock,
            make_fix=partial(_fix, event),
        )


def _fix(event: events.UnsynchronizedTiming, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV501: synchronize with the accelerator before both clock reads."""
    return synchronize_before_clock(context, event.started, event.context.place)
