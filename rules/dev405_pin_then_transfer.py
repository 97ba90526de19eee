"""Rule DEV405, which reports a tensor that is pinned only to be transferred once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import receiver_text
from devlint.explain.transfer_paths import transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.synchronization_fixes import transfer_without_pinning
from devlint.interpreter.state.events import Transfer
from devlint.rule import Finding, Rule


class PinThenTransfer(Rule):
    """A tensor is pinned in the main thread only to be transferred.

    ## What it does
    Finds `x.pin_memory().to(device)`, and the same in two statements, where nothing else uses the pinned copy. It is an
    information: with `non_blocking=True` the transfer may overlap with work that is under way, what comes from
    elsewhere may be pinned already, and what is pinned like this is mostly a batch of labels or indices.

    ## Why is this bad?
    `.pin_memory()` copies the tensor into other host memory, and the host waits for that copy; then it is copied again.
    torch's tutorial on pinned memory says: "Using `tensor.pin_memory().to(device, non_blocking=True)` can be up to
    twice as slow as a straightforward `tensor.to(device)`." Pinning pays where another thread does it, as a
    `DataLoader` with `pin_memory=True` does, or where the pinned memory is used again.

    ## Example
    ```python
    import torch

    for _ in range(100):
        batch = torch.rand(64, 3, 224, 224)
        batch = batch.pin_memory().to("cuda")
        print(batch.mean())
    ```

    ## Use instead
    ```python
    import torch

    for _ in range(100):
        batch = torch.rand(64, 3, 224, 224)
        batch = batch.to("cuda")
        print(batch.mean())
    ```

    ## Fix safety
    `.pin_memory()` is left out of the chain. Safe: the values that arrive are the same.

    ## How it is confirmed at run time
    The recorder notes where each tensor was pinned; the emulated device shows the finding at the line of the transfer.

    ## Known limits
    A file that mentions threads is not reported: there the pinning may run beside the main thread.
    """

    code = "DEV405"
    name = "pin-then-transfer"
    fixable = True
    severity = Severity.WARNING

    def check(self, event: Transfer) -> Iterator[Finding]:
        """Yield a finding for a transfer of a tensor that was pinned just for it."""
        copy = event.host_copy
        if copy is None or not copy.pins or not event.moves:
            return
        path = next((path for path in transfer_paths(event) if path.leaves_host), None)
        if path is None:
            return
        place, subject = event.context.place, f"`{receiver_text(copy.step.place)}`"
        yield Finding(
            place,
            f"pinning {subject} only to move it to {device_text(path.after)}{condition_text(path.when)} costs one more"
            " copy on the host, which waits for it",
            steps_elsewhere(
                (
                    *placement_steps((subject, path.before)),
                    replace(copy.step, message=f"{subject} {copy.step.message}"),
                ),
                place,
            ),
            "leave `.pin_memory()` out, or pin where another thread does it (`DataLoader(..., pin_memory=True)`)"
            + ("; without it, `non_blocking=True` has little effect" if event.non_blocking else ""),
            assumptions(event, path.after),
            severity=Severity.INFO,
            make_fix=partial(_fix, event),
        )


def _fix(event: Transfer, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV405: transfer the tensor as it is."""
    return transfer_without_pinning(context.region_at(event.context.place), node_at(event.receiver))
