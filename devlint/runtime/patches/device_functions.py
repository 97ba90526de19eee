"""Replacements for the functions of a backend's module, such as `torch.cuda` and `torch.xpu`, by their names.

They answer as if the emulated devices were real. Which of them a module gets is decided in `device_modules`.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import rng
from devlint.runtime.not_emulated import NotEmulated
from devlint.runtime.patches.stream_objects import stream_and_event
from devlint.runtime.storage_labels import DeviceMemory, device_memory

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

TOTAL_MEMORY = 80 * 1024**3
"""The bytes of memory that the emulated device claims to have."""
_CAPABILITY = (9, 0)
"""The compute capability that the emulated CUDA device claims to have."""
OWN_GENERATOR_NOTE = "the accelerator is seeded by itself: its random numbers are no longer those of a run on the CPU"
"""The note in the report on a device that got a random generator of its own."""
_NAME = "devlint emulated device"
_PROPERTIES: dict[str, dict[str, Any]] = {
    "cuda": {
        "major": _CAPABILITY[0],
        "minor": _CAPABILITY[1],
        "multi_processor_count": 132,
        "warp_size": 32,
        "max_threads_per_multi_processor": 2048,
        "is_integrated": False,
        "is_multi_gpu_board": False,
        "gcnArchName": "",
    },
    "xpu": {
        "platform_name": "devlint",
        "vendor": "devlint",
        "driver_version": "0",
        "type": "gpu",
        "max_compute_units": 512,
        "gpu_eu_count": 512,
        "gpu_subslice_count": 64,
        "max_work_group_size": 1024,
        "max_num_sub_groups": 64,
        "sub_group_sizes": [16, 32],
        "has_fp16": True,
        "has_fp64": True,
        "has_atomic64": True,
        "has_bfloat16_conversions": True,
        "has_subgroup_matrix_multiply_accumulate": True,
        "is_integrated_gpu": False,
    },
    "npu": {"multi_processor_count": 24},
}
"""What `get_device_properties` tells of the emulated device, by device type, besides its name and memory.

The emulated XPU is one with float64, as the data center GPUs are.
"""


def device_index(session: RuntimeSession, device: Any) -> int:
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


def common_queries(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for functions such as `synchronize` that every backend's module has."""

    def synchronize(device: Any = None) -> None:
        session.initialize()
        session.host_waited("synchronize")

    def set_device(device: Any) -> None:
        session.initialize()
        session.current_index = device_index(session, device)

    return {
        "synchronize": synchronize,
        "set_device": set_device,
        "device_count": lambda: session.device_count,
        "is_available": lambda: True,
        "empty_cache": lambda: None,
    }


def memory_functions(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for the functions that report or reset memory statistics."""

    def memory(device: Any) -> DeviceMemory:
        return device_memory[1 + device_index(session, device)]

    def allocated(device: Any = None) -> int:
        return memory(device).allocated

    def most(device: Any = None) -> int:
        return memory(device).peak

    def reset(device: Any = None) -> None:
        memory(device).peak = memory(device).allocated

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


def random_functions(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for functions that seed the device's random generator or give its state."""

    def key(device: Any) -> int:
        return 1 + device_index(session, device)

    def seed_one(seed: int, key: int) -> None:
        if session.own_generators:
            rng.seed_device(key, int(seed))
            if rng.has_own_generator(key):
                for recorder in session.recorders:
                    recorder.add_note(OWN_GENERATOR_NOTE)

    def seed_all(seed: int) -> None:
        for index in range(session.device_count):
            seed_one(seed, 1 + index)

    def set_state(state: torch.Tensor, device: Any = None) -> None:
        if session.own_generators:
            rng.set_state(key(device), state)

    def set_states(states: Any) -> None:
        for index, state in enumerate(states):
            set_state(state, index)

    return {
        "manual_seed": lambda seed: seed_one(seed, key(None)),
        "manual_seed_all": seed_all,
        "seed": lambda: seed_one(torch.default_generator.seed(), key(None)),
        "seed_all": lambda: seed_all(torch.default_generator.seed()),
        "initial_seed": torch.initial_seed,
        "get_rng_state": lambda device=None: rng.get_state(key(device)),
        "get_rng_state_all": lambda: [rng.get_state(1 + index) for index in range(session.device_count)],
        "set_rng_state": set_state,
        "set_rng_state_all": set_states,
    }


def refusing_function(name: str) -> Any:
    """Return a replacement for a torch function that emulation does not support; calling it raises NotEmulated."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotEmulated(name)

    return refuse


def device_descriptions(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for functions that describe devices or select the current one."""
    kind = session.backend.kind
    properties = types.SimpleNamespace(name=_NAME, total_memory=TOTAL_MEMORY, **_PROPERTIES.get(kind, {}))
    # torch.xpu gives the properties as a dict, and torch.npu gives None where the environment names no capability.
    capability = {"cuda": _CAPABILITY, "xpu": dict(vars(properties))}.get(kind)

    def exchange(index: int) -> int:
        before = session.current_index
        if index >= 0:
            session.current_index = device_index(session, index)
        return before

    return {
        "init": session.initialize,
        "_lazy_init": session.initialize,
        "is_initialized": lambda: session.initialized,
        "_initialized": True,  # torch.utils.checkpoint saves the generators of initialized devices only
        "_is_in_bad_fork": lambda: session.forked_after_init,
        "current_device": lambda: session.current_index,
        "_exchange_device": exchange,
        "_maybe_exchange_device": exchange,
        "get_device_name": lambda device=None: properties.name,
        "get_device_capability": lambda device=None: capability,
        "get_device_properties": lambda device=None: properties,
        "get_arch_list": lambda: ["sm_90"] if kind == "cuda" else [],
        "can_device_access_peer": lambda device, peer: True,
        "is_bf16_supported": lambda including_emulation=True: True,
        "is_tf32_supported": lambda: True,
        "ipc_collect": lambda: None,
        "set_sync_debug_mode": lambda mode: None,
        "get_sync_debug_mode": lambda: 0,
    }


def streams_and_events(session: RuntimeSession) -> dict[str, Any]:
    """Return replacements, by name, for the classes and functions that deal with streams and events."""
    stream, event = stream_and_event(session)

    def emulated_device(device: Any) -> torch.device:
        return session.devices[device_index(session, device)]

    return {
        "Stream": stream,
        "Event": event,
        "current_stream": lambda device=None: stream.from_clock(session.streams.current(emulated_device(device))),
        "default_stream": lambda device=None: stream.from_clock(session.streams.default(emulated_device(device))),
        "set_stream": lambda chosen: session.streams.set_current(chosen.stream_clock),
        "stream": stream.context,
        "is_current_stream_capturing": lambda: False,
    }
