"""The module `torch.npu` of Ascend's extension torch_npu, made while an NPU is emulated.

torch knows such a device only as its renamed private backend, and has no module for it.
"""

from __future__ import annotations

import sys
import types
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.backend_registration import rename_privateuse1_backend

from devlint.runtime.patches.device_functions import device_index

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

AUTOCAST_DTYPES = (torch.float16, torch.bfloat16, torch.float32)
"""The dtypes of autocast (torch_npu/npu/autocast_utils.py, get_amp_supported_dtype)."""


def name_private_backend(name: str) -> None:
    """Give torch's private backend the name of a device type; it keeps the name as long as the process lives.

    Raises RuntimeError if the backend already has another name, because torch can rename it only once.
    """
    known = torch._C._get_privateuse1_backend_name()
    if known != name:
        if known != "privateuseone":
            raise RuntimeError(f"torch's private backend is {known} in this process, so {name} cannot be emulated")
        rename_privateuse1_backend(name)


def install(session: RuntimeSession, patcher: Patcher, names: dict[str, Any]) -> None:
    """Add the module `torch.npu`, and `torch_npu` that programs import to get it, with the given functions by name."""
    module = types.ModuleType("torch.npu")
    vars(module).update(names)
    module.device, module.device_of = _device_scopes(session)  # type: ignore[attr-defined]
    module.StreamContext = names["stream"]  # type: ignore[attr-defined]
    module.get_amp_supported_dtype = lambda: list(AUTOCAST_DTYPES)  # type: ignore[attr-defined]
    module.is_autocast_enabled = lambda: torch.is_autocast_enabled("npu")  # type: ignore[attr-defined]
    module.get_autocast_dtype = lambda: torch.get_autocast_dtype("npu")  # type: ignore[attr-defined]
    module.amp = _amp_module()  # type: ignore[attr-defined]
    extension = types.ModuleType("torch_npu")
    extension.npu = module  # type: ignore[attr-defined]
    patcher.replace(torch, "npu", module)
    for name, value in (("torch.npu", module), ("torch.npu.amp", module.amp), ("torch_npu", extension)):
        sys.modules[name] = value
        patcher.at_end(partial(sys.modules.pop, name, None))
    _name_collective_backend(patcher)


def _name_collective_backend(patcher: Patcher) -> None:
    """Make `torch.distributed.get_default_backend_for_device` answer for the NPU as torch_npu makes it."""
    if torch.distributed.is_available():
        backends: dict[str, str] = torch.distributed.Backend.default_device_backend_map
        if "npu" not in backends:
            backends["npu"] = "hccl"
            patcher.at_end(partial(backends.pop, "npu", None))


def _device_scopes(session: RuntimeSession) -> tuple[type, type]:
    """Return the context managers `torch.npu.device` and `torch.npu.device_of`, which set the current device."""

    class device:
        """Context manager that makes a device the current one; it does nothing for None and negative numbers."""

        def __init__(self, device: Any) -> None:
            self.idx = device_index(session, device)

        def __enter__(self) -> None:
            self.before = session.current_index
            session.current_index = self.idx

        def __exit__(self, *_: object) -> None:
            session.current_index = self.before

    class device_of(device):
        """Context manager that makes the device of a tensor the current one; it does nothing for a host tensor."""

        def __init__(self, obj: Any) -> None:
            super().__init__(obj.get_device())

    return device, device_of


def _amp_module() -> types.ModuleType:
    """Return the module `torch.npu.amp`, whose autocast and GradScaler are torch's own for the device type npu."""

    class autocast(torch.amp.autocast_mode.autocast):
        """Autocast for the NPU."""

        def __init__(
            self, enabled: bool = True, dtype: torch.dtype = torch.float16, cache_enabled: bool = True
        ) -> None:
            super().__init__("npu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    class GradScaler(torch.amp.GradScaler):
        """Scaler of losses for the NPU."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("npu", *args, **kwargs)

    module = types.ModuleType("torch.npu.amp")
    vars(module).update(autocast=autocast, GradScaler=GradScaler)
    return module
