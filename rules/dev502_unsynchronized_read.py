"""Rule DEV502, which reports that the host reads a non-blocking copy that may not be complete."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place, steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.place_texts import place_text
from devlint.explain.steps import told_of
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.synchronization_fixes import make_copy_blocking
from devlint.interpreter.state.events import HostRead
from devlint.rule import Finding, Rule


class UnsynchronizedRead(Rule):
    """The host reads a `non_blocking=True` copy from an accelerator before it has waited for it.

    ## What it does
    Finds host reads (`.numpy()`, `.item()`, `.tolist()`, `print`, a condition) of a tensor that `.to("cpu",
    non_blocking=True)` returned, with no synchronisation in between.

    ## Why is this bad?
    Towards the host nothing waits for such a copy: the read may see the values half written, or not at all. It fails
    rarely, silently, and differently on each machine.

    ## Example
    ```python
    import torch

    scores = torch.rand(1000, device="cuda")
    copy = scores.to("cpu", non_blocking=True)
    print(copy.numpy())
    ```

    ## Use instead
    ```python
    import torch

    scores = torch.rand(1000, device="cuda")
    copy = scores.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    print(copy.numpy())
    ```

    ## Fix safety
    `non_blocking=True` is left out, which is safe: the host waits for this one copy, and reads what it should.

    ## How it is confirmed at run time
    On the emulated device such a copy holds stale values until something waits; on a GPU the recorder notes the read
    in the open interval.

    ## Known limits
    Reads by libraries that are not analysed are not seen. Using the copy on the accelerator again is right, because
    the copies of one stream keep their order.
    """

    code = "DEV502"
    name = "unsynchronized-read"
    fixable = True
    severity = Severity.ERROR

    def check(self, event: HostRead) -> Iterator[Finding]:
        """Yield a finding when the host reads a tensor whose non-blocking copy may be incomplete."""
        unfinished = event.unfinished
        if unfinished is None:
            return
        copy = unfinished.step.place
        subject, source = f"`{place_text(event.operand)}`", unfinished.step.source
        steps = (source, unfinished.step) if source is not None else (unfinished.step,)
        yield Finding(
            event.context.place,
            f"{subject} is read on the host before its non_blocking copy is known to be complete",
            steps_elsewhere(tuple(told_of(subject, one) for one in steps), event.context.place),
            f"leave `non_blocking` out of `{place_text(copy)}`, or synchronize before reading",
            assumptions(event),
            subject=copy,
            make_fix=partial(_fix, copy),
        )


def _fix(copy: Place, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV502: remove `non_blocking=True` from the copy."""
    return make_copy_blocking(context.region_at(copy), node_at(copy))
