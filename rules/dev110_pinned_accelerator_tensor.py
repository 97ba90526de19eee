"""Rule DEV110, which reports a tensor on an accelerator that is to be pinned in the memory of the host."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.domain.placement import Step, StepKind, steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import placement_steps
from devlint.explain.device_texts import condition_text, device_text
from devlint.explain.place_texts import place_text
from devlint.interpreter.state.events import PinnedAcceleratorTensor
from devlint.rule import Finding, Rule


class PinnedAcceleratorTensorRule(Rule):
    """A tensor on an accelerator is to be pinned, which only host memory can be.

    ## What it does
    Reports `.pin_memory()` of a tensor on an accelerator, factories with `pin_memory=True` and an accelerator as
    `device`, and a `DataLoader` with `pin_memory=True` whose dataset or `collate_fn` yields tensors on one.

    ## Why is this bad?
    Pinned memory is memory of the host that the operating system may not move. torch raises `RuntimeError: cannot pin
    'torch.cuda.FloatTensor' only dense CPU tensors can be pinned`; of a loader, where a loop over it starts.

    ## Example
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.rand(64, 3, device="cuda"))
    for (batch,) in DataLoader(data, batch_size=8, pin_memory=True):
        print(batch.sum())
    ```

    ## Use instead
    ```python
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    data = TensorDataset(torch.rand(64, 3, device="cuda"))
    for (batch,) in DataLoader(data, batch_size=8):
        print(batch.sum())
    ```

    ## How it is confirmed at run time
    The program stops with torch's error at the reported line, or where a loop over the reported loader starts.

    ## Known limits
    A loader is judged where the analysed code loops over it and `pin_memory` is written out.
    """

    code = "DEV110"
    name = "pinned-accelerator-tensor"
    severity = Severity.ERROR

    def check(self, event: PinnedAcceleratorTensor) -> Iterator[Finding]:
        """Yield a finding for a tensor on an accelerator that a call or a loader is to pin."""
        case = event.operand.case
        device, when = device_text(case), condition_text(event.when)
        subject = f"`{place_text(event.operand.place)}`" if event.loader is None else "the data"
        steps = placement_steps((subject, case))
        place = event.context.place
        if event.loader is not None:
            loop = Step(StepKind.PASSED, f"the loop asks for tensors on {device}, which cannot be pinned", place)
            place = event.loader
            message = f"the loader cannot pin its batches, which are on {device}{when}: only host memory can be pinned"
            advice = "keep the data on the host, and move each batch in the loop; or leave `pin_memory=True` out"
            steps = (*steps, loop)
        elif event.operand.place == place:
            message = f"`{place_text(place)}` is made on {device}{when}, and only host memory can be pinned"
            advice = "leave `pin_memory=True` out"
        else:
            message = f"`{place_text(event.operand.place)}` is on {device}{when}, and only host tensors can be pinned"
            advice = "leave `.pin_memory()` out, or pin the tensor before it is moved"
        yield Finding(place, message, steps_elsewhere(steps, place), advice, assumptions(event, case), subject=place)
