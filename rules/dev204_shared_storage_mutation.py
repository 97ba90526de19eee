"""Rule DEV204, which reports an in-place write to memory that another tensor or array in use shares."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import AssumptionKind, Severity
from devlint.domain.placement import Assumption
from devlint.explain.assumptions import assumptions
from devlint.explain.device_texts import condition_text
from devlint.explain.place_texts import place_text
from devlint.interpreter.state.events import SharedWrite
from devlint.rule import Finding, Rule


class SharedStorageMutation(Rule):
    """A tensor or array is changed in place while another one that may be the same memory is in use.

    ## What it does
    Follows what `.cpu()`, `.to()`, `.numpy()`, `torch.from_numpy`, `.detach()`, `.float()` and `.contiguous()` hand
    out: where they have nothing to do, they hand out the same memory. Reports writes in place to one side while the
    other is still read, or belongs to the caller. An optimizer's step writes to the parameters.

    ## Why is this bad?
    On the accelerator `.cpu()` copies, on the host it does not: the same line changes the other tensor on one machine
    and not on the other. Nothing is raised.

    ## Example
    ```python
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    scores = torch.ones(4, device=device)
    before = scores.cpu()
    scores.add_(1)
    print(before)
    ```

    ## Use instead
    ```python
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    scores = torch.ones(4, device=device)
    before = scores.cpu().clone()
    scores.add_(1)
    print(before)
    ```

    ## How it is confirmed at run time
    The recorder compares the storages of both sides when one of them is written.

    ## Known limits
    Views (`x[0]`, `x.t()`) share memory by design and are not reported.
    """

    code = "DEV204"
    name = "shared-storage-mutation"
    severity = Severity.WARNING
    default = False

    def check(self, event: SharedWrite) -> Iterator[Finding]:
        """Yield a finding for an in-place write to memory that the caller, or another variable still in use, shares."""
        other = f"`{event.other}`" if event.other is not None else "what the caller gave"
        verb = "is" if event.surely else "may be"
        doubt = Assumption(
            AssumptionKind.SHARED_MEMORY, f"`{place_text(event.shared.place)}` copies nothing", event.shared.place
        )
        yield Finding(
            event.context.place,
            f"`{event.name}` is changed in place, and {other} {verb} the same memory: it changes too"
            f"{condition_text(event.when)}",
            (event.shared,),
            f"copy what `{place_text(event.shared.place)}` returns: `.clone()` for a tensor, `.copy()` for an array",
            (*assumptions(event), *([] if event.surely else [doubt])),
            subject=event.shared.place,
        )
