"""The table cell for host waits: calls that wait for a CUDA device, by CUDA's warnings and by the profiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import torch
from torch.profiler import ProfilerActivity, profile

from devlint.runtime.derive.device_flips import ACCELERATOR, placeable_calls
from devlint.runtime.derive.probed_callable import Cells, ProbedCall, ProbedCallable
from devlint.runtime.derive.sample_calls import SampleCall

_WAITING: Final = frozenset({"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy"})
"""Calls of the CUDA runtime that return when the device is done."""


def cells(subject: ProbedCallable) -> Cells:
    """Return a callable's table cell ``sync`` as CUDA's warnings tell it; empty if no call can be made."""
    found = [
        waited
        for probed, given in placeable_calls(subject)
        if (waited := triggers_sync_warning(probed, given)) is not None
    ]
    return {"sync": "always" if all(found) else ""} if found else {}


def triggers_sync_warning(probed: ProbedCall, given: dict[str, torch.Tensor]) -> bool | None:
    """Return whether a call triggers CUDA's warning about waits; None if it cannot be made.

    The first of two calls warms up.
    """
    try:
        for mode in ("default", "error"):
            call = _on_accelerator(probed, given)
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode(mode)
            probed.function(*call.args, **call.kwargs)
    except Exception as error:  # CUDA's warning is one of many possible errors
        return True if "synchronizing CUDA operation" in str(error) else None
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False


def profiled_wait_count(probed: ProbedCall, given: dict[str, torch.Tensor]) -> int:
    """Return how often a call waits, as the profiler counts it."""
    call = _on_accelerator(probed, given)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as record:
        probed.function(*call.args, **call.kwargs)
    return count_waits(event.name for event in record.events() or ())


def count_waits(names: Iterable[str]) -> int:
    """Count the waits among calls of the CUDA runtime, without the one that stops the profiler."""
    return max(0, sum(name in _WAITING for name in names) - 1)


def _on_accelerator(probed: ProbedCall, given: dict[str, torch.Tensor]) -> SampleCall:
    """Return a probed call with its operands on the accelerator."""
    by_id: dict[int, Any] = {id(t): t.to(ACCELERATOR) for t in given.values()}
    return probed.call.map_tensors(lambda t: by_id[id(t)].clone())
