"""Patches for attributes of tensors that depend on the device: `device`, `is_cuda`, `get_device`, `type` and `grad`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.backends import BACKENDS
from devlint.runtime.device_comparisons import check_device_comparison
from devlint.runtime.device_transfers import copy_to_device
from devlint.runtime.storage_labels import HOST, LABEL_ATTRIBUTE, label_of, placement_of, storage_of_dense

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_base_device: Any = torch.Tensor.device
_base_grad: Any = torch.Tensor.grad
_base_type = torch.Tensor.type


def device_of(tensor: torch.Tensor) -> torch.device:
    """Return the emulated device that is labelled on a tensor's storage; without a label, the tensor's real device."""
    try:
        label = getattr(storage_of_dense(tensor), LABEL_ATTRIBUTE)
    except (NotImplementedError, RuntimeError):
        label = label_of(tensor)
    found: torch.device = _base_device.__get__(tensor) if label is None or not label.place.key else label.place.device
    return found


def legacy_type(session: RuntimeSession, wanted: Any) -> tuple[torch.device, torch.dtype] | None:
    """Return the device and dtype of a legacy tensor type such as `torch.cuda.FloatTensor`, or None for anything else.

    `wanted` is the type or its name.
    """
    name = (
        wanted if isinstance(wanted, str) else f"{getattr(wanted, '__module__', '')}.{getattr(wanted, '__name__', '')}"
    )
    for dtype_name, legacy in torch_errors.LEGACY_DTYPE_NAMES.items():
        if name == f"torch.{legacy}Tensor":
            return HOST, getattr(torch, dtype_name)
        if session.kind and name == f"torch.{session.kind}.{legacy}Tensor":
            return session.resolve(session.kind), getattr(torch, dtype_name)
    return None


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace properties and methods of `torch.Tensor` such as `device` by versions that know emulated devices.

    They read the device from the label on the tensor's storage.
    """

    def is_kind(kind: str) -> property:
        return property(lambda self: device_of(self).type == kind)

    def get_device(self: torch.Tensor) -> int:
        device = device_of(self)
        return -1 if device.type == "cpu" else device.index or 0

    def type_(self: torch.Tensor, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        if dtype is None:
            return torch_errors.legacy_type_name(self.dtype, device_of(self))
        legacy = None if isinstance(dtype, torch.dtype) else legacy_type(session, dtype)
        if legacy is None:
            return _base_type(self, dtype, non_blocking)
        return self.to(legacy[0], legacy[1], non_blocking=non_blocking)

    def get_grad(self: torch.Tensor) -> torch.Tensor | None:
        gradient: torch.Tensor | None = _base_grad.__get__(self)
        if gradient is not None and gradient.dim() == 0 and gradient.layout is torch.strided:
            here, there = placement_of(self), placement_of(gradient)
            if here.key != there.key:
                with torch.no_grad():
                    gradient = copy_to_device(gradient, here.device, how="backward")
                _base_grad.__set__(self, gradient)
        return gradient

    def set_grad(self: torch.Tensor, gradient: torch.Tensor | None) -> None:
        if gradient is not None:
            here, there = device_of(self), device_of(gradient)
            if here != there:
                raise RuntimeError(
                    f"attempting to assign a gradient with device type '{there.type}' to a tensor with device type "
                    f"'{here.type}'. Please ensure that the gradient and the tensor are on the same device"
                )
        _base_grad.__set__(self, gradient)

    def device(self: torch.Tensor) -> torch.device:
        found = device_of(self)
        if session.recorders and found.type != "cpu":
            check_device_comparison(session, found, sys._getframe(1))
        return found

    tensor = torch.Tensor
    patcher.replace(tensor, "device", property(device))
    for kind in ("cpu", *BACKENDS):
        if hasattr(tensor, f"is_{kind}") or kind == session.kind:
            patcher.replace(tensor, f"is_{kind}", is_kind(kind))
    patcher.replace(tensor, "get_device", get_device)
    patcher.replace(torch, "get_device", get_device)
    patcher.replace(tensor, "type", type_)
    patcher.replace(
        tensor,
        "grad",
        property(get_grad, set_grad, lambda self: _base_grad.__delete__(self)),
    )
