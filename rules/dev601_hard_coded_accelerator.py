"""Rule DEV601, which reports an accelerator that is hard-coded, such as `"cuda"`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from devlint.diagnostic import Fix, Severity
from devlint.explain.assumptions import assumptions
from devlint.explain.causes import written_device_cause
from devlint.explain.place_texts import callee_text, dotted_name_at, hard_coded_text
from devlint.fixes.accelerator_choice import check_availability
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.state import events
from devlint.rule import Finding, Rule
from devlint.syntax.index import Statement


class HardCodedAccelerator(Rule):
    """An accelerator is written out where nobody asked whether there is one.

    ## What it does
    Finds `.cuda()`, `device="cuda"`, `torch.device("cuda:0")` and `autocast("cuda")` with no check of availability
    around them and no argument by which the caller could choose.

    ## Why is this bad?
    The code runs on machines with that accelerator only: elsewhere it raises "Torch not compiled with CUDA enabled"
    or "Found no NVIDIA driver". In a library this decides for all its users.

    ## Example
    ```python
    import torch

    def positions(n: int):
        return torch.arange(n).cuda()

    positions(3)
    ```

    ## Use instead
    ```python
    import torch

    def positions(n: int, device: torch.device):
        return torch.arange(n, device=device)

    positions(3, torch.device("cpu"))
    ```

    ## Fix safety
    The accelerator is taken where there is one, and the host elsewhere. Unsafe: it would often be better to take the
    device from a tensor or from an argument, and code that must not run on the host then does. There is no fix for
    the old tensor types.

    ## How it is confirmed at run time
    The program is run without an accelerator and stops there.

    ## Known limits
    A check of availability in another function is not seen. A device that has a name (`device = "cuda"` at the top of
    a script) is easily changed and is not reported.
    """

    code = "DEV601"
    name = "hard-coded-accelerator"
    fixable = True
    severity = Severity.INFO
    default = False

    def check(self, event: events.HardCodedAccelerator) -> Iterator[Finding]:
        """Yield a finding for a hard-coded accelerator without a check of its availability.

        There is no finding if a parameter lets the caller choose another device.
        """
        if event.guarded or event.choosable or dotted_name_at(event.context.place) is not None or _is_compared(event):
            return
        yield Finding(
            event.context.place,
            f"`{hard_coded_text(event)}` needs {event.type or 'that accelerator'}:"
            " nothing checks that it is there, and no caller can choose another device",
            help="take the device from a tensor at hand (`x.device`) or from an argument",
            assumptions=assumptions(event),
            cause=written_device_cause(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: events.HardCodedAccelerator, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV601: use the accelerator only where it is available, otherwise the host."""
    return check_availability(context.region_at(event.context.place), node_at(event.context.place))


def _is_compared(event: events.HardCodedAccelerator) -> bool:
    """Return whether the accelerator is only compared with another device: `x.device == torch.device("cuda")`."""
    device, unit = event.quoted, event.context.place.unit
    if device is None or not isinstance(device.node, cst.Call) or not isinstance(unit, Statement):
        return False
    around = path_to(unit.tree, device.node)[-2:-1]
    compared = any(isinstance(one, (cst.Comparison, cst.ComparisonTarget)) for one in around)
    return compared and callee_text(device).endswith("device")
