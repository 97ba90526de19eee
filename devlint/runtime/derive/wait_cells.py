"""The semantics-table cell ``sync``: whether a call of a torch callable makes the host wait for a CUDA device.

Waits are detected by CUDA's own warnings, and for comparison by torch's profiler.
"""

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
    """Return a callable's semantics-table cell ``sync``, which is "always" if all its calls make the host wait.

    The value is empty if some call does not. The dict is empty if no call can be made on the CUDA device.
    """
    found = [
        waited
        for probed, given in placeable_calls(subject)
        if (waited := triggers_sync_warning(probed, given)) is not None
    ]
    return {"sync": "always" if all(found) else ""} if found else {}


def triggers_sync_warning(probed: ProbedCall, given: dict[str, torch.Tensor]) -> bool | None:
    """Return whether a call on the CUDA device makes CUDA warn that the host waits, None if the call fails.

    The call is made twice: the first time only to warm up.
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
    """Make a probed call on the CUDA device, and return how often the host waits in it, as torch's profiler counts."""
    call = _on_accelerator(probed, given)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as record:
        probed.function(*call.args, **call.kwargs)
    return count_waits(event.name for event in record.events() or ())


def count_waits(names: Iterable[str]) -> int:
    """Return how many of these CUDA runtime calls make the host wait, without the one that ends the profiling.

    ``names`` are the names of the runtime calls that the profiler recorded.
    """
    return max(0, sum(name in _WAITING for name in names) - 1)


def _on_accelerator(probed: ProbedCall, given: dict[str, torch.Tensor]) -> SampleCall:
    """Return the arguments of a probed call with its tensors copied to the accelerator."""
    by_id: dict[int, Any] = {id(t): t.to(ACCELERATOR) for t in given.values()}
    return probed.call.map_tensors(lambda t: by_id[id(t)].clone())
