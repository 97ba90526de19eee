"""Rule DEV602, which reports checkpoints that are loaded to the device on which they were saved."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from devlint.diagnostic import Fix, Severity
from devlint.explain.assumptions import assumptions
from devlint.fixes.accelerator_api import load_to_host
from devlint.fixes.fix_context import FixContext, node_at
from devlint.interpreter.state.events import LoadedWhereSaved
from devlint.rule import Finding, Rule


class LoadWithoutMapLocation(Rule):
    """A checkpoint is loaded without a word on where to.

    ## What it does
    Finds `torch.load(path)`, `torch.jit.load(path)` and `torch.hub.load_state_dict_from_url(url)` without
    `map_location`.

    ## Why is this bad?
    torch puts each tensor on the device on which it was saved. On a machine without that device, it raises "Attempting
    to deserialize object on a CUDA device". On one with it, every process first fills the same GPU, also where
    `load_state_dict` copies the tensors elsewhere at once.

    ## Example
    ```python
    import torch

    def restore(model, path):
        model.load_state_dict(torch.load(path, weights_only=True))
    ```

    ## Use instead
    ```python
    import torch

    def restore(model, path):
        model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    ```

    ## Fix safety
    `map_location="cpu"` is added. Unsafe: what is used as it was loaded, without `load_state_dict`, is then on the
    host.

    ## How it is confirmed at run time
    The line runs and loads tensors that were saved on another device.

    ## Known limits
    Functions of other libraries that load checkpoints are not looked at. Code after a check of a device is not
    reported, and neither are loads with `mmap=`, or under `with torch.device(...)`.
    """

    code = "DEV602"
    name = "load-without-map-location"
    fixable = True
    severity = Severity.INFO
    default = False

    def check(self, event: LoadedWhereSaved) -> Iterator[Finding]:
        """Yield a finding for a checkpoint that is loaded to where it was saved."""
        if event.guarded:
            return
        yield Finding(
            event.context.place,
            f"`{event.function}` puts each tensor on the device on which it was saved, and fails where that is missing",
            help='pass `map_location="cpu"`, and move what is used as it is; `load_state_dict` copies by itself',
            assumptions=assumptions(event),
            make_fix=partial(_fix, event),
        )


def _fix(event: LoadedWhereSaved, context: FixContext) -> Fix:
    """Return the fix for a finding of DEV602: load to the host."""
    return load_to_host(context.region_at(event.context.place), node_at(event.context.place), event.position)
