"""Patch for `torch.device(0)`, which names an emulated device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
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
    """Replace `torch.device` by a class that knows emulated devices."""
    names = {"__module__": "torch", "__qualname__": "device", "kind": session.kind}
    patcher.replace(torch, "device", _DeviceType("device", (), names))
