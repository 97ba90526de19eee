"""Rule DEV610, which reports process groups that are told NCCL where the device is chosen at run time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.explain.assumptions import assumptions
from devlint.fixes.device_types import take_backend_of_device
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import BackendWrittenOut
from devlint.rule import Finding, Rule


class HardCodedCollectiveBackend(Rule):
    """A process group is told NCCL by name, in a program that chooses its device while it runs.

    ## What it does
    Finds `init_process_group("nccl")` and `new_group(backend="nccl")` in a file that asks which accelerators there are,
    where nothing ties the backend to the device.
    In code that nobody has to port (see DEV605) it is an information, and shown only where `DEV610` itself is selected.

    ## Why is this bad?
    NCCL is for CUDA. On other accelerators the process group cannot be made, and on the host its collectives raise "No
    backend type associated with device type cpu".

    ## Example
    ```python
    import torch
    import torch.distributed as dist

    def setup(rank: int):
        dist.init_process_group("nccl", rank=rank)
        return torch.device("cuda" if torch.cuda.is_available() else "cpu", rank)
    ```

    ## Use instead
    ```python
    import torch
    import torch.distributed as dist

    def setup(rank: int):
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu", rank)
        dist.init_process_group(dist.get_default_backend_for_device(device), rank=rank)
        return device
    ```

    ## Fix safety
    The backend is taken from the device, where a name that is set once to the chosen device is in sight before the
    call. Unsafe: the function that returns the backend came with torch 2.6, and on the host the group then uses gloo.

    ## How it is confirmed at run time
    The program is run without CUDA, by `devlint run --device cpu` or on another emulated accelerator, and stops where
    it makes the process group.

    ## Known limits
    A file that asks for no accelerator is taken to be meant for CUDA only. Code after any check of a device, of a
    backend or of their number is not reported, nor a branch that writes out a CUDA device beside the backend.
    """

    code = "DEV610"
    name = "hard-coded-collective-backend"
    fixable = True
    severity = Severity.INFO
    info_by_name = True
    default = False

    def check(self, event: BackendWrittenOut) -> Iterator[Finding]:
        """Yield a finding for a process group with NCCL in a program that chooses its device."""
        if event.backend != "nccl" or event.guarded or not event.chosen:
            return
        yield Finding(
            event.context.place,
            f"`{event.function.rpartition('.')[2]}` is told NCCL, which is for CUDA, while the device is chosen at run"
            " time: without CUDA this raises",
            help="take the backend from the device, which needs torch 2.6:"
            f" `torch.distributed.get_default_backend_for_device({event.device.text if event.device else 'device'})`",
            severity=Severity.WARNING,
            assumptions=assumptions(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: BackendWrittenOut, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV610: take the backend of the device that the program chooses."""
    region, call = context.region_at(event.context.place), node_at(event.context.place)
    return take_backend_of_device(region, call, event.keyword, event.position)
