"""Patches for the modules that answer for devices, such as `torch.cuda`, `torch.xpu` and `torch.accelerator`.

The emulated backend's module answers as if its devices were there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import rng
from devlint.runtime.patches import absent_backends, npu_module
from devlint.runtime.patches.device_functions import (
    common_queries,
    device_descriptions,
    device_index,
    memory_functions,
    random_functions,
    refusing_function,
    streams_and_events,
)
from devlint.runtime.patches.stream_objects import any_device_event

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_ALL_DTYPES = frozenset(one for one in vars(torch).values() if isinstance(one, torch.dtype))
"""The dtypes of torch. The emulated device claims to support those that its backend does not lack."""
_REFUSED = ("CUDAGraph", "XPUGraph", "graph", "make_graphed_callables", "get_stream_from_external", "utilization")
"""Names in the module of a backend for what devlint does not emulate."""
_OF_THE_CUDA_ALLOCATOR: dict[str, Any] = {
    "_cuda_CUDAAllocator_AllocatorState": type("_cuda_CUDAAllocator_AllocatorState", (), {}),
    "_set_cached_tensors_enabled": lambda enabled: None,
}
"""Names in `torch._C` that `torch._dynamo.reset()` imports where there is CUDA, to reset CUDA's graphs."""
_SUBMODULES = ("memory", "random", "streams")
"""Submodules of a backend's module that hold some of its functions too."""


def _all_functions(session: RuntimeSession) -> dict[str, Any]:
    """Return the replacements for all functions and classes of a backend's module, by their names in `torch.cuda`."""
    names = (
        common_queries(session)
        | memory_functions(session)
        | random_functions(session)
        | device_descriptions(session)
        | streams_and_events(session)
    )
    return names | {name: refusing_function(f"torch.{session.kind}.{name}") for name in _REFUSED}


def _mps_functions(names: dict[str, Any]) -> dict[str, Any]:
    """Return the replacements for the functions and classes of `torch.mps`, which has few and names some of its own.

    `names` are those of a backend's module like `torch.cuda`.
    """
    shared = ("synchronize", "device_count", "empty_cache", "manual_seed", "seed", "Event", "is_available")
    return {name: names[name] for name in shared} | {
        "current_allocated_memory": lambda: names["memory_allocated"](),
        "driver_allocated_memory": lambda: names["memory_allocated"](),
        "recommended_max_memory": lambda: names["mem_get_info"]()[1],
        "set_per_process_memory_fraction": lambda fraction: None,
        "get_rng_state": lambda device="mps": names["get_rng_state"](device),
        "set_rng_state": lambda new_state, device="mps": names["set_rng_state"](new_state, device),
    }


def _patch_backend_module(session: RuntimeSession, patcher: Patcher, names: dict[str, Any]) -> None:
    """Replace the functions of the emulated backend's module and of its submodules by versions for emulated devices."""
    kind = session.backend.kind
    if kind == "npu":
        npu_module.install(session, patcher, names)
    module = getattr(torch, kind)
    if kind == "mps":
        names = _mps_functions(names)
    for name in vars(module).keys() & names.keys():
        patcher.replace(module, name, names[name])
    for submodule in (getattr(module, name, None) for name in _SUBMODULES):
        for name in vars(submodule).keys() & names.keys() if submodule is not None else ():
            patcher.replace(submodule, name, names[name])
    backend_flags = getattr(torch.backends, kind, None)
    for name in ("is_built", "is_available"):
        if hasattr(backend_flags, name):
            patcher.replace(backend_flags, name, lambda: True)


def _patch_cuda_extras(patcher: Patcher) -> None:
    """Replace what only CUDA has beside `torch.cuda`'s own functions: the ranges of NVTX, and a question to cuDNN."""
    for name, value in {
        "range_push": lambda message: 0,
        "range_pop": lambda: 0,
        "range_start": lambda message: 0,
        "range_end": lambda identity: None,
        "mark": lambda message: None,
    }.items():
        patcher.replace(torch.cuda.nvtx, name, value)
    patcher.replace(torch.backends.cudnn, "is_acceptable", lambda tensor: False)
    for name, value in _OF_THE_CUDA_ALLOCATOR.items():
        if not hasattr(torch._C, name):
            patcher.replace(torch._C, name, value)


def _patch_accelerator(session: RuntimeSession, patcher: Patcher, functions: dict[str, Any]) -> None:
    """Replace functions of `torch.accelerator` by versions for emulated devices, if this torch has the module."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    kind = torch.device(session.backend.kind)

    @contextmanager
    def index_scope(index: int | None) -> Iterator[None]:
        before = session.current_index
        session.current_index = before if index is None else device_index(session, index)
        try:
            yield
        finally:
            session.current_index = before

    names = {
        "is_available": functions["is_available"],
        "device_count": functions["device_count"],
        "synchronize": functions["synchronize"],
        "current_accelerator": lambda check_available=False: kind,
        "current_device_index": lambda: session.current_index,
        "current_device_idx": lambda: session.current_index,
        "set_device_index": functions["set_device"],
        "set_device_idx": functions["set_device"],
        "device_index": index_scope,
        "empty_cache": lambda: None,
        "empty_host_cache": lambda: None,
        "get_device_capability": lambda device=None: {
            "supported_dtypes": set(_ALL_DTYPES - session.dtype_limits.unsupported)
        },
        "get_memory_info": functions["mem_get_info"],
        "current_stream": functions["current_stream"],
        "set_stream": functions["set_stream"],
    }
    names |= {name: value for name, value in memory_functions(session).items() if hasattr(accelerator, name)}
    for name, value in names.items():
        if hasattr(accelerator, name):
            patcher.replace(accelerator, name, value)


def _patch_device_module(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `torch.get_device_module`, which gives the accelerator's module where no device is named."""
    original = getattr(torch, "get_device_module", None)
    if original is None:
        return

    def get_device_module(device: Any = None) -> Any:
        # torch keeps the answers for good, so it must not be asked for a module that exists only while emulating.
        if device is None or (isinstance(device, str | torch.device) and torch.device(device).type == session.kind):
            return getattr(torch, session.backend.kind)
        return original(device)

    patcher.replace(torch, "get_device_module", get_device_module)


def _patch_streams_of_any_device(session: RuntimeSession, patcher: Patcher, functions: dict[str, Any]) -> None:
    """Replace `torch.Stream` and `torch.Event`, which are of the accelerator's type, if this torch has them."""
    if hasattr(torch, "Stream"):
        patcher.replace(torch, "Stream", functions["Stream"])
    if hasattr(torch, "Event"):
        patcher.replace(torch, "Event", any_device_event(session, functions["Event"]))


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace functions of the emulated backend's module, of `torch.accelerator`, and `torch.manual_seed`.

    The replacements answer for the emulated devices. The modules of the other backends answer that they have none.
    """
    functions = _all_functions(session)
    absent_backends.install(session.kind, patcher)
    _patch_backend_module(session, patcher, functions)
    if session.kind == "cuda":
        _patch_cuda_extras(patcher)
    patcher.replace(torch.Tensor, "record_stream", lambda self, stream: None)
    _patch_accelerator(session, patcher, functions)
    _patch_device_module(session, patcher)
    _patch_streams_of_any_device(session, patcher, functions)

    def manual_seed(seed: int) -> torch.Generator:
        rng.discard_device_states()
        return torch.default_generator.manual_seed(int(seed))

    restore: Any = torch.random.set_rng_state

    def set_rng_state(new_state: torch.Tensor) -> None:
        restore(new_state)
        rng.host_state_was_set()

    for module in (torch, torch.random):
        patcher.replace(module, "manual_seed", manual_seed)
        patcher.replace(module, "set_rng_state", set_rng_state)
