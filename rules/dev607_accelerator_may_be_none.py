"""Rule DEV607, which reports a use of the current accelerator where there may be none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.domain.placement import Place
from devlint.fixes.accelerator_api import take_host_without_accelerator
from devlint.fixes.fix_context import FixContext, NoFix, node_at
from devlint.interpreter.state.events import AcceleratorMayBeNone
from devlint.rule import Finding, Rule


class MissingAccelerator(Rule):
    """`torch.accelerator.current_accelerator()` is used as if there always were an accelerator.

    ## What it does
    Finds `torch.accelerator.current_accelerator().type`, `torch.device(torch.accelerator.current_accelerator())` and
    `str(...)` of it as a device, with no check that there is an accelerator.

    ## Why is this bad?
    The function returns None where torch is built for the CPU only, and with `check_available=True` wherever there is
    no accelerator. The line then raises `AttributeError: 'NoneType' object has no attribute 'type'`.

    ## Example
    ```python
    import torch

    device = torch.accelerator.current_accelerator().type
    x = torch.ones(3, device=device)
    ```

    ## Use instead
    ```python
    import torch

    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    x = torch.ones(3, device=device.type)
    ```

    ## Fix safety
    `or torch.device("cpu")` is added to the call. Safe where the line that fails takes the result of the call at once;
    unsafe where the result has a name, which other code may compare with None.

    ## How it is confirmed at run time
    The program is run without an accelerator, by `devlint run --device cpu`, and stops at the line.

    ## Known limits
    `device=None` and `.to(None)` are no error, they leave the tensor on the default device, and are not reported. Code
    after any check of an accelerator, of a GPU or of their number is not reported, nor is a script that leaves on one.
    """

    code = "DEV607"
    name = "accelerator-may-be-none"
    fixable = True
    severity = Severity.ERROR

    def check(self, event: AcceleratorMayBeNone) -> Iterator[Finding]:
        """Yield a finding for a use of the current accelerator that fails where there is none."""
        if event.guarded:
            return
        yield Finding(
            event.context.place,
            f"`torch.accelerator.current_accelerator()` is None where there is no accelerator: {event.use}",
            trace=(event.asked,) if event.asked is not None else (),
            help='write `torch.accelerator.current_accelerator() or torch.device("cpu")`, or check'
            " `torch.accelerator.is_available()` first",
            subject=event.asked.place if event.asked is not None else None,
            make_fix=partial(_fix, event, event.asked.place) if event.asked is not None else None,
        )


def _fix(event: AcceleratorMayBeNone, asked: Place, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV607: take the host where there is no accelerator."""
    if event.context.place.node is asked.node:
        raise NoFix
    return take_host_without_accelerator(context.region_at(asked), node_at(asked), node_at(event.context.place))
