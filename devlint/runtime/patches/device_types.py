"""Patches for `torch.device(0)`, legacy types such as `torch.cuda.FloatTensor`, and `set_default_tensor_type`.

The patched versions know emulated devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime import torch_errors
from devlint.runtime.call_sites import user_site
from devlint.runtime.patches.patcher import Patcher
from devlint.runtime.patches.tensor_queries import device_of, legacy_type
from devlint.runtime.storage_labels import Placement, label_tensor

if TYPE_CHECKING:
    from devlint.runtime.runtime_session import RuntimeSession

_device = torch.device


class _DeviceType(type):
    """Metaclass of the class that replaces `torch.device`, which cannot be subclassed.

    Calling the class makes real `torch.device` objects; an integer alone names an emulated device.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else kwargs.get("device", kwargs.get("type"))
        if isinstance(first, int) and not isinstance(first, bool) and len(args) == 1:
            return _device(cls.kind, first)  # type: ignore[attr-defined]
        return _device(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _device)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, _device)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _device

    def __hash__(cls) -> int:
        return hash(_device)


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `torch.device`, legacy types such as `torch.cuda.FloatTensor`, and `torch.set_default_tensor_type`.

    The replacements know emulated devices.
    """
    names = {"__module__": "torch", "__qualname__": "device", "kind": session.kind}
    patcher.replace(torch, "device", _DeviceType("device", (), names))
    if not session.backend.legacy_types:
        return
    module = getattr(torch, session.backend.kind)
    for dtype_name, legacy in torch_errors.LEGACY_DTYPE_NAMES.items():
        if hasattr(torch.cuda, f"{legacy}Tensor"):
            patcher.replace(module, f"{legacy}Tensor", _legacy_type_class(session, legacy, getattr(torch, dtype_name)))
    default_type = torch.set_default_tensor_type
    constructor = Patcher()

    def set_default_tensor_type(wanted: Any) -> None:
        found = legacy_type(session, wanted)
        constructor.undo()
        if found is None or found[0].type == "cpu":
            torch.set_default_device(None)
            default_type(wanted)
        else:
            torch.set_default_dtype(found[1])
            torch.set_default_device(found[0])
            constructor.replace(torch.Tensor, "__init__", _labelling_init(found[0]))

    def forget_default_type() -> None:
        if constructor.replaced:
            constructor.undo()
            torch.set_default_device(None)

    patcher.replace(torch, "set_default_tensor_type", set_default_tensor_type)
    patcher.at_end(forget_default_type)


def _labelling_init(device: torch.device) -> Callable[..., None]:
    """Return an `__init__` by which `torch.Tensor([1.0])` and `torch.Tensor(2, 3)` make tensors on a device.

    That is so while the default tensor type is one of the device. The tensor is made on the host, by `__new__`.
    """

    def initialize(self: torch.Tensor, *args: Any, **kwargs: Any) -> None:
        shares = args and isinstance(args[0], torch.Tensor | torch.UntypedStorage | torch.TypedStorage)
        if type(self) is torch.Tensor and not shares and not kwargs:
            label_tensor(self, Placement(device, f"created on {device} by torch.Tensor()", user_site()))

    return initialize


class _LegacyType(type):
    """Metaclass of the classes that replace legacy tensor types such as `torch.cuda.FloatTensor`.

    `isinstance` is true for tensors with the type's device and dtype.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        kind: str = cls.kind  # type: ignore[attr-defined]
        wanted: torch.dtype = cls.dtype  # type: ignore[attr-defined]
        return isinstance(instance, torch.Tensor) and device_of(instance).type == kind and instance.dtype is wanted


def _legacy_type_class(session: RuntimeSession, legacy: str, dtype: torch.dtype) -> type:
    """Return a class that replaces a legacy tensor type such as `torch.cuda.FloatTensor` and makes emulated tensors."""

    def new(cls: type, *args: Any, device: Any = None) -> torch.Tensor:
        target = session.resolve(session.kind if device is None else device)
        if len(args) == 1 and not isinstance(args[0], int | torch.Size):
            return torch.tensor(args[0], dtype=dtype, device=target)
        return torch.empty(*args or (0,), dtype=dtype, device=target)

    kind = session.backend.kind
    names = {"__new__": staticmethod(new), "__module__": f"torch.{kind}", "kind": kind, "dtype": dtype}
    return _LegacyType(f"{legacy}Tensor", (), names)
