"""Which calls make the host wait for a CUDA device, told by two instruments: CUDA's own alarm, and the profiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import torch
from torch.profiler import ProfilerActivity, profile

from devlint.runtime.derive.device_flips import ACCELERATOR, placeable_calls
from devlint.runtime.derive.probed_callable import Cells, ProbedCall, ProbedCallable
from devlint.runtime.derive.sample_calls import SampleCall

_WAITING: Final = frozenset({"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy"})
"""The calls of CUDA's runtime that return when the device is done."""


def cells(subject: ProbedCallable) -> Cells:
    """``sync``, as CUDA's alarm tells it; nothing where no call can be made there."""
    found = [
        waited
        for probed, given in placeable_calls(subject)
        if (waited := triggers_sync_warning(probed, given)) is not None
    ]
    return {"sync": "always" if all(found) else ""} if found else {}


def triggers_sync_warning(probed: ProbedCall, given: dict[str, torch.Tensor]) -> bool | None:
    """Whether the call sets off CUDA's alarm; None where it cannot be made there. The first call warms up."""
    try:
        for mode in ("default", "error"):
            call = _on_accelerator(probed, given)
            torch.cuda.synchronize()
            torch.cuda.set_sync_debug_mode(mode)
            probed.function(*call.args, **call.kwargs)
    except Exception as error:  # the alarm is one kind of error among many
        return True if "synchronizing CUDA operation" in str(error) else None
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False


def profiled_wait_count(probed: ProbedCall, given: dict[str, torch.Tensor]) -> int:
    """How often the call waits, as the profiler counts it."""
    call = _on_accelerator(probed, given)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as record:
        probed.function(*call.args, **call.kwargs)
    return count_waits(event.name for event in record.events() or ())


def count_waits(names: Iterable[str]) -> int:
    """How many of the runtime calls wait; stopping the profiler is itself one that does."""
    return max(0, sum(name in _WAITING for name in names) - 1)


def _on_accelerator(probed: ProbedCall, given: dict[str, torch.Tensor]) -> SampleCall:
    by_id: dict[int, Any] = {id(t): t.to(ACCELERATOR) for t in given.values()}
    return probed.call.map_tensors(lambda t: by_id[id(t)].clone())
