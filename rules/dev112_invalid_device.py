"""Rule DEV112, which reports a device that cannot exist on any machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.explain.causes import Cause
from devlint.explain.place_texts import place_text
from devlint.fixes.device_spelling import correct_device
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import InvalidDeviceUsed
from devlint.rule import Finding, Rule


class InvalidDevice(Rule):
    """A device is named that cannot exist.

    ## What it does
    Reports device strings and indices that PyTorch refuses on every machine: `"gpu"`, `"cuda0"`, `"cuda:-1"`,
    `"cuda:cuda:0"`, `.cuda("cpu")`.

    ## Why is this bad?
    The line raises `RuntimeError: Expected one of cpu, cuda, ... device type at start of device string` or `Invalid
    device string`; often on a path that only runs on machines with an accelerator.

    ## Example
    ```python
    import torch

    x = torch.zeros(3, device="gpu")
    ```

    ## Use instead
    ```python
    import torch

    x = torch.zeros(3, device="cuda")
    ```

    ## Fix safety
    A string is spelled as it was probably meant (`"gpu0"` as `"cuda:0"`), a doubled prefix is left out, `.cuda("cpu")`
    becomes `.cpu()`. Unsafe: the code has never run, and what was meant is a guess.

    ## How it is confirmed at run time
    The reported line raises PyTorch's error about the device string.

    ## Known limits
    An index beyond the number of devices (`"cuda:7"`) exists on some machines and is not reported.
    """

    code = "DEV112"
    fixable = True
    name = "invalid-device"
    severity = Severity.ERROR

    def check(self, event: InvalidDeviceUsed) -> Iterator[Finding]:
        """Yield a finding for a use of a device that cannot exist on any machine."""
        yield Finding(
            event.context.place,
            event.reason if event.of_host else f"no tensor can go to device {event.written!r}: {event.reason}",
            help="call `.cpu()`, or leave the transfer out" if event.of_host else _help(event.written),
            cause=_cause(event),
            make_fix=partial(_fix, event),
        )


def _cause(event: InvalidDeviceUsed) -> Cause | None:
    """Return the cause of all devices that a file names by one wrong value; None where the code here writes it out.

    The value may be all of the device's text, or its index: `"cuda:" + str(index)`.
    """
    place, value = event.context.place, event.written.rpartition(":")[2]
    is_written = value in place_text(place, sys.maxsize)
    return None if event.of_host or is_written else Cause(("an invalid device", place.filename, value), recurs=True)


def _fix(event: InvalidDeviceUsed, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV112: write the device that the author probably meant."""
    return correct_device(context.region_at(event.context.place), node_at(event.context.place), event.written)


def _help(written: str) -> str | None:
    """Return the advice for a finding of DEV112: the device that the author probably meant; None if that is unclear."""
    type_, _, rest = written.partition(":")
    if rest.startswith(f"{type_}:"):
        return f"`{type_}:` stands there twice: the inner string holds it already"
    if type_.lower().rstrip("0123456789") in ("gpu", "cuda", "nvidia"):
        index = "".join(re.findall(r"\d", written))
        return f'write `"cuda:{index}"`' if index else 'write `"cuda"`'
    return None
