"""Replacements for the functions of `torch.cuda`, `torch.mps` and `torch.accelerator`.

They answer as if the emulated devices were real.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import rng
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.patches.stream_objects import stream_and_event
from devlint.runtime.storage_labels import memory_counter

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

CAPABILITY = (9, 0)
"""The compute capability that the emulated device claims to have."""
_ALL_DTYPES = frozenset(one for one in vars(torch).values() if isinstance(one, torch.dtype))
"""The dtypes that the emulated device claims to support."""
TOTAL_MEMORY = 80 * 1024**3
"""The bytes of memory that the emulated device claims to have."""


def _device_index(session: RuntimeSession, device: Any) -> int:
    """Return the index of the emulated device that an argument of a `torch.cuda` function means.

    None and negative numbers mean the current device.
    """
    if device is None or (isinstance(device, int) and device < 0):
        return session.current_index
    if isinstance(device, int | str):
        device = session.resolve(device)
    if isinstance(device, torch.device):
        if device.type != session.kind:
            raise ValueError(f"Expected a {session.kind} device, but got: {device}")
        return session.resolve(device).index or 0
    return int(getattr(device, "idx", session.current_index))


def _common_queries(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for functions such as `synchronize` of `torch.cuda` and `torch.accelerator`."""

    def synchronize(device: Any = None) -> None:
        session.initialize()
        session.host_waited("synchronize")

    def set_device(device: Any) -> None:
        session.initialize()
        session.current_index = _device_index(session, device)

    return {
        "synchronize": synchronize,
        "set_device": set_device,
        "device_count": lambda: session.device_count,
        "is_available": lambda: True,
        "empty_cache": lambda: None,
    }


def _memory_functions(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for the functions of `torch.cuda` that report or reset memory statistics."""

    def key(device: Any) -> int:
        return 1 + _device_index(session, device)

    def allocated(device: Any = None) -> int:
        return memory_counter.allocated.get(key(device), 0)

    def most(device: Any = None) -> int:
        return memory_counter.peak.get(key(device), 0)

    def reset(device: Any = None) -> None:
        memory_counter.peak[key(device)] = memory_counter.allocated.get(key(device), 0)

    def stats(device: Any = None) -> dict[str, int]:
        return {"allocated_bytes.all.current": allocated(device), "allocated_bytes.all.peak": most(device)}

    return {
        "memory_allocated": allocated,
        "memory_reserved": allocated,
        "memory_cached": allocated,
        "max_memory_allocated": most,
        "max_memory_reserved": most,
        "max_memory_cached": most,
        "reset_peak_memory_stats": reset,
        "reset_max_memory_allocated": reset,
        "reset_accumulated_memory_stats": reset,
        "memory_stats": stats,
        "memory_summary": lambda device=None, abbreviated=False: (
            f"emulated device: {allocated(device)} bytes allocated"
        ),
        "mem_get_info": lambda device=None: (TOTAL_MEMORY - allocated(device), TOTAL_MEMORY),
        "set_per_process_memory_fraction": lambda fraction, device=None: None,
    }


def _random_functions(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for functions of `torch.cuda` that seed random generators or give their states."""

    def key(device: Any) -> int:
        return 1 + _device_index(session, device)

    def seed_all(seed: int) -> None:
        for index in range(session.device_count):
            rng.seed_device(1 + index, int(seed))

    def set_states(states: Any) -> None:
        for index, state in enumerate(states):
            rng.set_state(1 + index, state)

    return {
        "manual_seed": lambda seed: rng.seed_device(key(None), int(seed)),
        "manual_seed_all": seed_all,
        "seed": lambda: rng.seed_device(key(None), torch.default_generator.seed()),
        "seed_all": lambda: seed_all(torch.default_generator.seed()),
        "initial_seed": torch.initial_seed,
        "get_rng_state": lambda device=None: rng.get_state(key(device)),
        "get_rng_state_all": lambda: [rng.get_state(1 + index) for index in range(session.device_count)],
        "set_rng_state": lambda state, device=None: rng.set_state(key(device), state),
        "set_rng_state_all": set_states,
    }


def _refusing_function(name: str) -> Any:
    """Return a replacement for a torch function that emulation does not support; calling it raises NotEmulated."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotEmulated(name)

    return refuse


def _device_descriptions(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for functions of `torch.cuda` that describe devices or select the current one."""
    properties = types.SimpleNamespace(
        name="devlint emulated device",
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        total_memory=TOTAL_MEMORY,
        multi_processor_count=132,
        warp_size=32,
        max_threads_per_multi_processor=2048,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
    )

    def exchange(index: int) -> int:
        before = session.current_index
        if index >= 0:
            session.current_index = _device_index(session, index)
        return before

    return {
        "init": session.initialize,
        "_lazy_init": session.initialize,
        "is_initialized": lambda: session.initialized,
        "_is_in_bad_fork": lambda: session.forked_after_init,
        "current_device": lambda: session.current_index,
        "_exchange_device": exchange,
        "_maybe_exchange_device": exchange,
        "get_device_name": lambda device=None: properties.name,
        "get_device_capability": lambda device=None: CAPABILITY,
        "get_device_properties": lambda device=None: properties,
        "get_arch_list": lambda: ["sm_90"],
        "can_device_access_peer": lambda device, peer: True,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True,
        "ipc_collect": lambda: None,
        "set_sync_debug_mode": lambda mode: None,
        "get_sync_debug_mode": lambda: 0,
    }


def _streams_and_events(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for the classes and functions of `torch.cuda` that deal with streams and events."""
    stream, event = stream_and_event(session)
    return {
        "Stream": stream,
        "Event": event,
        "current_stream": lambda device=None: stream.from_clock(
            session.streams.current(_emulated_device(session, device))
        ),
        "default_stream": lambda device=None: stream.from_clock(
            session.streams.default(_emulated_device(session, device))
        ),
        "set_stream": lambda chosen: session.streams.set_current(chosen.stream_clock),
        "stream": stream.context,
        "is_current_stream_capturing": lambda: False,
    }


def _patch_cuda(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace functions of `torch.cuda` and its submodules by versions for emulated devices."""
    names = (
        _common_queries(session)
        | _memory_functions(session)
        | _random_functions(session)
        | _device_descriptions(session)
        | _streams_and_events(session)
    )
    for name in ("CUDAGraph", "graph", "make_graphed_callables", "get_stream_from_external", "utilization"):
        names[name] = _refusing_function(f"torch.cuda.{name}")
    for name, value in names.items():
        patcher.replace(torch.cuda, name, value)
    for module in (torch.cuda.memory, torch.cuda.random, torch.cuda.streams):
        for name in vars(module).keys() & names.keys():
            patcher.replace(module, name, names[name])
    for name, value in {
        "range_push": lambda message: 0,
        "range_pop": lambda: 0,
        "range_start": lambda message: 0,
        "range_end": lambda identity: None,
        "mark": lambda message: None,
    }.items():
        patcher.replace(torch.cuda.nvtx, name, value)
    patcher.replace(torch.Tensor, "record_stream", lambda self, stream: None)
    patcher.replace(torch.backends.cuda, "is_built", lambda: True)
    patcher.replace(torch.backends.cudnn, "is_acceptable", lambda tensor: False)


def _emulated_device(session: RuntimeSession, device: Any) -> torch.device:
    """Return the emulated device that an argument of a `torch.cuda` function means; None means the current device."""
    return session.devices[_device_index(session, device)]


def _patch_accelerator(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace functions of `torch.accelerator` by versions for emulated devices, if this torch has the module."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    queries = _common_queries(session)
    kind = torch.device(session.kind or "cuda")

    @contextmanager
    def device_index(index: int | None) -> Iterator[None]:
        before = session.current_index
        session.current_index = before if index is None else _device_index(session, index)
        try:
            yield
        finally:
            session.current_index = before

    names = {
        "is_available": queries["is_available"],
        "device_count": queries["device_count"],
        "synchronize": queries["synchronize"],
        "current_accelerator": lambda check_available=False: kind,
        "current_device_index": lambda: session.current_index,
        "current_device_idx": lambda: session.current_index,
        "set_device_index": queries["set_device"],
        "set_device_idx": queries["set_device"],
        "device_index": device_index,
        "empty_cache": lambda: None,
        "empty_host_cache": lambda: None,
        "get_device_capability": lambda device=None: {"supported_dtypes": set(_ALL_DTYPES)},
        "get_memory_info": _memory_functions(session)["mem_get_info"],
        "current_stream": lambda device=None: torch.cuda.current_stream(device),
        "set_stream": lambda stream: torch.cuda.set_stream(stream),
    }
    names |= {name: value for name, value in _memory_functions(session).items() if hasattr(accelerator, name)}
    for name, value in names.items():
        if hasattr(accelerator, name):
            patcher.replace(accelerator, name, value)


def _patch_device_module(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `torch.get_device_module`, which gives the accelerator's module where no device is named."""
    original = getattr(torch, "get_device_module", None)
    if original is not None:
        patcher.replace(torch, "get_device_module", lambda device=None: original(device or session.kind))


def _patch_mps(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace functions of `torch.mps` and `torch.backends.mps` by versions for the emulated device."""
    queries = _common_queries(session)
    memory = _memory_functions(session)
    patcher.replace(torch.backends.mps, "is_available", lambda: True)
    patcher.replace(torch.backends.mps, "is_built", lambda: True)
    for name, value in {
        "synchronize": queries["synchronize"],
        "device_count": queries["device_count"],
        "empty_cache": queries["empty_cache"],
        "current_allocated_memory": memory["memory_allocated"],
        "driver_allocated_memory": memory["memory_allocated"],
        "manual_seed": lambda seed: rng.seed_device(1, int(seed)),
        "seed": lambda: rng.seed_device(1, torch.default_generator.seed()),
        "get_rng_state": lambda: rng.get_state(1),
        "set_rng_state": lambda state: rng.set_state(1, state),
    }.items():
        patcher.replace(torch.mps, name, value)


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace functions of `torch.cuda` or `torch.mps`, of `torch.accelerator`, and `torch.manual_seed`.

    The replacements answer for the emulated devices.
    """
    if session.kind == "cuda":
        _patch_cuda(session, patcher)
    else:
        _patch_mps(session, patcher)
    _patch_accelerator(session, patcher)
    _patch_device_module(session, patcher)

    def manual_seed(seed: int) -> torch.Generator:
        rng.discard_device_states()
        return torch.default_generator.manual_seed(int(seed))

    patcher.replace(torch, "manual_seed", manual_seed)
    patcher.replace(torch.random, "manual_seed", manual_seed)
