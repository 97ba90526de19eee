"""Rule DEV604, which reports functions that take a device and do not ask it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Step, StepKind
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import Cause
from devlint.explain.place_texts import call_text, callee_text, method_text
from devlint.explain.surrounding_calls import parameter_place
from devlint.fixes.device_parameters import use_device_parameter
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import IgnoredDeviceArgument
from devlint.rule import Finding, Rule


class IgnoredDevice(Rule):
    """A function takes a device, and makes its tensors without it.

    ## What it does
    Finds functions with a parameter `device` that no code of the function reads, or that is bound anew before it is
    read, and that make tensors on the default device or move them to an accelerator by name.

    ## Why is this bad?
    The caller passes a device and gets tensors on another one.

    ## Example
    ```python
    import torch

    def positions(n: int, device: torch.device):
        return torch.arange(n)

    positions(3, torch.device("cpu"))
    ```

    ## Use instead
    ```python
    import torch

    def positions(n: int, device: torch.device):
        return torch.arange(n, device=device)

    positions(3, torch.device("cpu"))
    ```

    ## Fix safety
    `device=` is passed to the call that makes the tensor, or the tensor is moved to it. Unsafe: callers may count on
    the device on which the tensor was.

    ## How it is confirmed at run time
    The recorder shows the device on which the reported line makes its tensor.

    ## Known limits
    Only a parameter called `device` counts, and one finding is made for each function, whose steps tell the other
    tensors. A function that hands the device
    on to any other code is not reported, even if it makes tensors without it.
    """

    code = "DEV604"
    name = "ignored-device-argument"
    fixable = True
    severity = Severity.WARNING
    default = False

    def check(self, event: IgnoredDeviceArgument) -> Iterator[Finding]:
        """Yield a finding for a tensor that a function makes without the device that it takes."""
        place, parameter = event.context.place, event.parameter
        head = parameter_place(event.defined, parameter) or event.defined
        made = isinstance(place.node, cst.Call) and method_text(place) != ".cuda()"
        where = f"`{callee_text(place)}` takes the default device" if made else f"`{call_text(place)}` names another"
        yield Finding(
            place,
            f"`{event.function}` never uses what is passed as `{parameter}`: {where}",
            trace=(Step(StepKind.PASSED, f"`{parameter}` is never read", head, event.context.scope),),
            help=f"pass `device={parameter}` to `{callee_text(place)}`, or take the parameter away"
            if made
            else f"take `{parameter}` instead, or take the parameter away",
            assumptions=assumptions(event),
            cause=Cause(("a device that is not asked", event.defined), recurs=True),
            make_fix=partial(_fix, event),
        )


def _fix(event: IgnoredDeviceArgument, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV604: make the tensor on the device that the function takes."""
    return use_device_parameter(context.region_at(event.context.place), node_at(event.context.place), event.parameter)
