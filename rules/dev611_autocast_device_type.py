"""Rule DEV611, which reports mixed precision for one type of device where the device is chosen at run time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.explain.assumptions import assumptions
from devlint.fixes.device_types import take_type_of_device
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import BackendWrittenOut
from devlint.rule import Finding, Rule


class AutocastDeviceType(Rule):
    """Mixed precision is asked for one type of device, in a program that chooses its device while it runs.

    ## What it does
    Finds `torch.autocast("cuda")`, `torch.cuda.amp.autocast()` and `GradScaler("cuda")` in a file that asks which
    accelerators there are, where nothing ties them to the device.
    In code that nobody has to port (see DEV605) it is an information, and shown only where `DEV611` itself is selected.

    ## Why is this bad?
    `autocast("cuda")` changes the dtypes of CUDA operations only. On another device the same code computes in float32
    without a word, or after a warning that CUDA is not available.

    ## Example
    ```python
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def step(model, batch):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return model(batch.to(device))
    ```

    ## Use instead
    ```python
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def step(model, batch):
        with torch.autocast(device.type, dtype=torch.bfloat16):
            return model(batch.to(device))
    ```

    ## Fix safety
    The type of the device is passed, where a name that is set once to the chosen device is in sight. Unsafe: on the
    host, autocast then computes in bfloat16, where it did nothing before.

    ## How it is confirmed at run time
    The program is run on an emulated accelerator other than CUDA, and the results of its operations are float32.

    ## Known limits
    A file that asks for no accelerator is taken to be meant for CUDA only, and so is a class that always sets its own
    device to one of CUDA. Code after any check of a device is not reported, and neither is a call with an `enabled=`
    that the program computes, nor a scaler or full precision where nothing in the program computes in half precision.
    """

    code = "DEV611"
    name = "autocast-device-type"
    fixable = True
    severity = Severity.WARNING
    info_by_name = True
    default = False

    def check(self, event: BackendWrittenOut) -> Iterator[Finding]:
        """Yield a finding for mixed precision that is tied to one device type in a program that chooses its device."""
        if event.backend == "nccl" or event.guarded or not event.chosen:
            return
        yield Finding(
            event.context.place,
            f"`{event.function}` {_tie(event)}, while the device is chosen at run time: on others it does nothing",
            help=f"pass the type of the device: `{_call(event)}`",
            assumptions=assumptions(event),
            make_fix=partial(_fix, event),
        )


def _tie(event: BackendWrittenOut) -> str:
    """Return the words for what ties a function to its backend: its name, or what is passed."""
    return f"is for {event.backend} only" if event.function in _ADVICE else f"is told `{event.backend}`"


def _call(event: BackendWrittenOut) -> str:
    """Return the source text of the call with the type of the device, in which dots stand for its other arguments."""
    device, call = event.device, event.context.place.node
    type_ = "device.type" if device is None else device.text if device.is_text else f"{device.text}.type"
    written = 1 if event.argument is not None else 0
    more = ", ..." if isinstance(call, cst.Call) and len(call.args) > written else ""
    return f"{_ADVICE.get(event.function, event.function)}({type_}{more})"


def _fix(event: BackendWrittenOut, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV611: pass the type of the device that the program chooses."""
    region, call = context.region_at(event.context.place), node_at(event.context.place)
    return take_type_of_device(region, call, event.function, event.keyword, event.position)


_ADVICE = {"torch.cuda.amp.autocast": "torch.autocast", "torch.cuda.amp.GradScaler": "torch.amp.GradScaler"}
"""What to call instead of functions that are for CUDA by their name."""
