"""Rule DEV116, which reports a host tensor in a collective of a process group that takes accelerator tensors only."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Severity
from devlint.domain.placement import steps_elsewhere
from devlint.explain.assumptions import assumptions
from devlint.explain.conflict_texts import operand_steps
from devlint.explain.device_texts import condition_text
from devlint.explain.place_texts import operand_text
from devlint.interpreter.state.events import HostTensorInCollective
from devlint.rule import Finding, Rule


class HostTensorInNcclCollective(Rule):
    """A host tensor is passed to a collective of an NCCL process group.

    ## What it does
    Reports host tensors in `all_reduce`, `broadcast`, `all_gather`, `send` and the other functions of
    `torch.distributed` that exchange tensors, where the default process group was made with `"nccl"`.

    ## Why is this bad?
    NCCL exchanges memory of GPUs. torch raises `RuntimeError: No backend type associated with device type cpu`, often
    only on the machine with several of them.

    ## Example
    ```python
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl")
    total = torch.tensor(0.0)
    dist.all_reduce(total)
    ```

    ## Use instead
    ```python
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl")
    total = torch.tensor(0.0, device="cuda")
    dist.all_reduce(total)
    ```

    ## How it is confirmed at run time
    On a machine with GPUs the collective raises torch's error. The emulated device has no NCCL.

    ## Known limits
    Only the default group is judged, and only in code that is reached from the call that makes it. A group made without
    a backend, or with `"cpu:gloo,cuda:nccl"`, takes tensors of both.
    """

    code = "DEV116"
    name = "host-tensor-in-collective"
    severity = Severity.ERROR

    def check(self, event: HostTensorInCollective) -> Iterator[Finding]:
        """Yield a finding for a host tensor that is passed to a collective of an NCCL group."""
        operand, place = event.operand, event.context.place
        subject = f"{operand_text(operand)} holds tensors" if operand.inside else f"{operand_text(operand)} is"
        yield Finding(
            place,
            f"{subject} on the host{condition_text(event.when)}, but `{event.operation.rpartition('.')[2]}` uses"
            f" {event.backend.upper()}, which takes tensors on accelerators only",
            steps_elsewhere((*operand_steps(operand), event.made), place),
            "make it on the device of this process, or move it there",
            assumptions(event, operand.case),
        )
