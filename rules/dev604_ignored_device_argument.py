"""Rule DEV604, which reports functions that take a device and do not ask it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place, Step, StepKind
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
    `device=` is passed to the calls that make the tensors, or the tensors are moved to it. Unsafe: callers may count on
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

    def __init__(self) -> None:
        self._made: defaultdict[Place, dict[Place, IgnoredDeviceArgument]] = defaultdict(dict)
        """What each function makes without its device, by its definition and by the place."""

    def check(self, event: IgnoredDeviceArgument) -> Iterator[Finding]:
        """Record a tensor that a function makes without the device that it takes, and yield no finding.

        `final_findings` reports all that one function makes so as one bug.
        """
        self._made[event.defined].setdefault(event.context.place, event)
        yield from ()

    def final_findings(self) -> Iterator[Finding]:
        """Yield a finding for each recorded tensor; those of one function have the same cause and the same fix."""
        for made in self._made.values():
            for event in made.values():
                yield _finding(event, tuple(made.values()))


def _finding(event: IgnoredDeviceArgument, alike: Sequence[IgnoredDeviceArgument]) -> Finding:
    """Return the finding for a tensor that a function makes without its device; `alike` are all that it makes so."""
    place, parameter = event.context.place, event.parameter
    head = parameter_place(event.defined, parameter) or event.defined
    made = isinstance(place.node, cst.Call) and method_text(place) != ".cuda()"
    where = f"`{callee_text(place)}` takes the default device" if made else f"`{call_text(place)}` names another"
    return Finding(
        place,
        f"`{event.function}` never uses what is passed as `{parameter}`: {where}",
        trace=(Step(StepKind.PASSED, f"`{parameter}` is never read", head, event.context.scope),),
        help=f"pass `device={parameter}` to `{callee_text(place)}`, or take the parameter away"
        if made
        else f"take `{parameter}` instead, or take the parameter away",
        assumptions=assumptions(event),
        cause=Cause(("a device that is not asked", event.defined), recurs=True),
        make_fix=partial(_fix, alike),
    )


def _fix(alike: Sequence[IgnoredDeviceArgument], context: FixContext) -> Fix:
    """Return the fix for a finding of DEV604: make all tensors of the function on the device that it takes."""
    fixes = [
        use_device_parameter(context.region_at(one.context.place), node_at(one.context.place), one.parameter)
        for one in alike
    ]
    return replace(fixes[0], edits=tuple(dict.fromkeys(edit for one in fixes for edit in one.edits)))
