"""Patches for assignments across emulated devices (`copy_`, `x[i] = v`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from devlint.runtime.device_transfers import copy_to_device
from devlint.runtime.patches.tensor_queries import device_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession

_copy_ = torch.Tensor.copy_
_setitem = torch.Tensor.__setitem__


def _moved_for_autograd(value: Any, target: torch.Tensor) -> Any:
    """Return the source of an assignment, moved to the target's device if the source needs a gradient.

    The gradient is then moved back by autograd. Any other source is returned as it is.
    """
    if isinstance(value, torch.Tensor) and value.requires_grad and torch.is_grad_enabled():
        there = device_of(target)
        if device_of(value) != there:
            return copy_to_device(value, there, how="copy_")
    return value


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace `copy_` and `__setitem__` of `torch.Tensor` by versions that know emulated devices."""

    def copy_(self: torch.Tensor, src: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
        return _copy_(self, _moved_for_autograd(src, self), non_blocking)

    def setitem(self: torch.Tensor, key: Any, value: Any) -> None:
        _setitem(
            self,
            key,
            _moved_for_autograd(value, self) if isinstance(value, torch.Tensor) and value.dim() == 0 else value,
        )

    for name, method in (("copy_", copy_), ("__setitem__", setitem)):
        patcher.replace(torch.Tensor, name, method)
