"""Rule DEV115, which reports a cached tensor whose cache key does not contain the device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from devlint.diagnostic import Severity
from devlint.domain.placement import StepKind
from devlint.explain.assumptions import conflict_assumptions
from devlint.explain.conflict_texts import conflict_location_text, conflict_steps, device_expression
from devlint.explain.device_texts import device_text
from devlint.explain.place_texts import operand_text, text_with_suffix
from devlint.explain.suggestions import MAX_SUGGESTION_LENGTH
from devlint.interpreter.state.events import CacheConflict
from devlint.rule import Finding, Rule

KEYED: Final = (
    "make it on the device of its use, and make that device (and the dtype) part of the key; or move it when used"
)
"""The advice for a cache whose key lacks the device."""


class DeviceBlindCache(Rule):
    """A tensor is cached under a key that does not hold its device.

    ## What it does
    Reports tensors that outlive the call which made them (in an `lru_cache`, a dict of the module's top level, a
    class attribute, a default argument) under a key without the device, and that meet another device's tensors. A
    tensor made when the file is loaded, which a module's methods compute with, is such a one.

    ## Why is this bad?
    Whoever comes first decides the device for everybody. The second model, on another device, is handed the first
    one's tensor and raises `RuntimeError: Expected all tensors to be on the same device`.

    ## Example
    ```python
    from functools import lru_cache

    import torch


    @lru_cache
    def window(size):
        return torch.hann_window(size)


    signal = torch.rand(512, device="cuda")
    smooth = signal * window(512)
    ```

    ## Use instead
    ```python
    from functools import lru_cache

    import torch


    @lru_cache
    def window(size, device):
        return torch.hann_window(size, device=device)


    signal = torch.rand(512, device="cuda")
    smooth = signal * window(512, signal.device)
    ```

    ## How it is confirmed at run time
    The operation that ends the reported story raises PyTorch's device error.

    ## Known limits
    A cache that nothing is seen to use with another device is not reported, nor one that compares devices before it
    hands a tensor out.
    """

    code = "DEV115"
    name = "device-blind-cache"
    severity = Severity.WARNING

    def check(self, event: CacheConflict) -> Iterator[Finding]:
        """Yield a finding for a cache whose tensor is used together with a tensor on another device.

        The finding is where the tensor is cached, so that there is one finding for each cache.
        """
        place, other = event.cached.place, event.reference
        yield Finding(
            place,
            f"a tensor on {device_text(event.misplaced.case)} is {event.cached.message}:"
            f" it cannot be combined with {operand_text(other)} on {device_text(other.case)}"
            f" {conflict_location_text(event)}",
            trace=conflict_steps(event, place),
            help=_help(event),
            assumptions=conflict_assumptions(event),
        )


def _help(event: CacheConflict) -> str:
    """Return the advice for a finding of DEV115: a key with the device, or a transfer of what the cache returns."""
    device = device_expression(event, event.reference)
    moved = text_with_suffix(event.misplaced.place, f".to({device})", MAX_SUGGESTION_LENGTH)
    advice = KEYED if event.cached.kind is StepKind.CACHED else "make it on the device of its use, or move it"
    return f"{advice}: `{moved}`"
