"""Rule DEV404, which reports a transfer of a pinned tensor for which the host waits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Basis
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.costs import is_always_paid
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import call_text, place_text
from devlint.explain.transfer_paths import TransferPath, is_placed_in_function, transfer_paths
from devlint.fixes.fix_context import FixContext, node_at
from devlint.fixes.synchronization_fixes import make_copy_non_blocking
from devlint.interpreter.state.events import Transfer
from devlint.rule import Finding, Rule


class BlockingTransferFromPinned(Rule):
    """A pinned tensor is moved to the accelerator without `non_blocking=True`.

    ## What it does
    Finds transfers of tensors in pinned memory, above all the batches of a `DataLoader(..., pin_memory=True)`, that
    do not ask for `non_blocking=True`.

    ## Why is this bad?
    Pinned memory is what allows a copy to run while the host goes on. Without `non_blocking=True` the host waits for
    the copy all the same, and the pinning was for half its use.

    ## Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.rand(64, 3))
    for (batch,) in DataLoader(data, pin_memory=True):
        batch = batch.to("cuda")
        print(batch.sum())
    ```

    ## Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.rand(64, 3))
    for (batch,) in DataLoader(data, pin_memory=True):
        batch = batch.to("cuda", non_blocking=True)
        print(batch.sum())
    ```

    ## Fix safety
    `non_blocking=True` is put in. Safe for the batches that a loader yields in the same function, which nobody writes
    to again; unsafe for other pinned memory, which the host may fill anew while the copy runs, and for arguments.

    ## How it is confirmed at run time
    The recorder notes of every transfer whether its source was pinned and whether the host waited.

    ## Known limits
    Whether there is anything the host could do meanwhile is not judged.
    """

    code = "DEV404"
    name = "blocking-transfer-from-pinned"
    fixable = True
    severity = Severity.WARNING
    default = False

    def check(self, event: Transfer) -> Iterator[Finding]:
        """Yield a finding for a transfer of a pinned tensor from the host for which the host waits."""
        if not event.pinned or event.non_blocking is not False or not event.moves:
            return
        path = next((path for path in transfer_paths(event) if path.leaves_host), None)
        if path is None:
            return
        receiver, target = place_text(event.receiver), device_text(path.after)
        when = "" if is_always_paid(path.when) else condition_text(path.when)
        yield Finding(
            event.context.place,
            f"`{receiver}` is pinned, but the host still waits in `{call_text(event.context.place)}` until its copy to"
            f" {target} is done{when}",
            placement_steps((f"`{receiver}`", path.before)),
            "pass `non_blocking=True`: the host then goes on while the copy runs",
            assumptions(event, path.after),
            make_fix=partial(_fix, event, path),
        )


def _fix(event: Transfer, path: TransferPath, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV404: add `non_blocking=True` to the transfer.

    The fix is safe for the tensors of a DataLoader, and unsafe for others.
    """
    of_loader = path.before.basis is Basis.ASSUMED and is_placed_in_function(event.context, path.before)
    return make_copy_non_blocking(context.region_at(event.context.place), node_at(event.context.place), safe=of_loader)
