"""Rule DEV504, which reports a write to pinned memory while a non_blocking copy out of it may be running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place
from devlint.explain.assumptions import assumptions
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import place_text, receiver_text
from devlint.explain.suggestions import places_in_loop
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.synchronization_fixes import make_copy_blocking
from devlint.interpreter.state.events import OverwrittenCopy
from devlint.rule import Finding, Rule


class OverwrittenPinnedBuffer(Rule):
    """The host writes to a pinned buffer while a non_blocking copy out of it may be running.

    ## What it does
    Finds writes (`buffer.copy_(x)`, `buffer[:] = x`, `buffer.numpy()[0] = 1`) to pinned memory that `.to(device,
    non_blocking=True)` copies to an accelerator, where nothing waits for the copy in between.

    ## Why is this bad?
    The copy reads the buffer while the host goes on. torch's tutorial on pinned memory says: "when a tensor is placed
    in pinned memory, mutating the original copy after calling the host-to-device transfer may corrupt the data received
    on GPU." It fails rarely, silently, and differently on each machine.

    ## Example
    ```python
    import torch

    buffer = torch.empty(1024, pin_memory=True)
    batches = []
    for number in range(1000):
        buffer.fill_(number)
        batches.append(buffer.to("cuda", non_blocking=True))
    ```

    ## Use instead
    ```python
    import torch

    buffer = torch.empty(1024, pin_memory=True)
    batches = []
    for number in range(1000):
        buffer.fill_(number)
        batches.append(buffer.to("cuda"))
    ```

    ## Fix safety
    `non_blocking=True` is left out, which is safe: the host waits for this one copy before it goes on.

    ## How it is confirmed at run time
    The emulated device notes writes to pinned memory out of which a copy has not been waited for.

    ## Known limits
    Code that devlint does not know counts as waiting. So does whoever takes the values of a generator, but for a loop
    that goes over them and waits for nothing. Buffers that are chosen by an index which is not constant are taken for
    different ones.
    """

    code = "DEV504"
    name = "overwritten-pinned-buffer"
    fixable = True
    severity = Severity.ERROR

    def check(self, event: OverwrittenCopy) -> Iterator[Finding]:
        """Yield a finding for a write to pinned memory while a copy out of it may be running."""
        copy = event.copy.step.place
        yield Finding(
            event.context.place,
            f"`{place_text(event.target)}` is written to while its non_blocking copy to"
            f" {device_text(event.copy.target)}{_of_iteration(event)} may still be running: wrong values may arrive",
            (replace(event.copy.step, message=f"`{receiver_text(copy)}` {event.copy.step.message}"),),
            f"leave `non_blocking` out of `{place_text(copy)}`, or wait for the copy before writing, by"
            " `synchronize()` or an event",
            assumptions(event, event.copy.target),
            subject=copy,
            make_fix=partial(_fix, copy),
        )


def _of_iteration(event: OverwrittenCopy) -> str:
    """Return ` of the iteration before` for a copy that stands after the write in the text of their loop."""
    write, copy, loop = event.context.place, event.copy.step.place, event.context.loop
    written = places_in_loop(loop.place, write, copy) if loop is not None else []
    return " of the iteration before" if written == [write, copy] else ""


def _fix(copy: Place, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV504: let the host wait for the copy."""
    return make_copy_blocking(context.region_at(copy), node_at(copy))
