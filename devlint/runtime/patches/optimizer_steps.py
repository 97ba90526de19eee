"""Patches for optimizers and gradient clipping, which group tensors by device to choose their kernels."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _foreach_utils

from devlint.runtime.storage_labels import placement_of

if TYPE_CHECKING:
    from devlint.runtime.patches.patcher import Patcher
    from devlint.runtime.runtime_session import RuntimeSession


def group_tensors(tensorlists: list[list[torch.Tensor | None]], with_indices: bool = False) -> dict[Any, Any]:
    """Split several lists of tensors into groups by the emulated device and the dtype of the first list's tensors.

    The tensors at one index of the lists go to the same group. Replaces torch's function of the same purpose, and
    raises its error if the tensors at one index are on different devices.
    """
    groups: dict[Any, tuple[list[list[torch.Tensor | None]], list[int]]] = {}
    for index, first in enumerate(tensorlists[0]):
        if first is None:
            raise RuntimeError("the first tensor list must not hold None")
        place = placement_of(first)
        key = (place.device, first.dtype)
        lists, indices = groups.setdefault(key, ([[] for _ in tensorlists], []))
        for found, tensors in zip(lists, tensorlists, strict=True):
            if not tensors:
                continue
            tensor = tensors[index]
            if tensor is not None and tensor is not first:
                other = placement_of(tensor)
                scalar_step = not other.key and tensor.dim() == 0
                if other.key != place.key and not scalar_step:
                    raise RuntimeError(
                        "Tensors of the same index must be on the same device and the same dtype except `step` tensors "
                        "that can be CPU and float32/64, and optimizer states that can be bfloat16 for "
                        "mixed-precision training"
                    )
            found.append(tensor)
        indices.append(index)
    return groups


def install(session: RuntimeSession, patcher: Patcher) -> None:
    """Replace torch's function that groups tensors by device and dtype, wherever torch uses it, by `group_tensors`."""
    patcher.replace(_foreach_utils, "_group_tensors_by_device_and_dtype", group_tensors)
    for name in ("torch.optim.optimizer", "torch.nn.utils.clip_grad"):
        module = importlib.import_module(name)
        if hasattr(module, "_group_tensors_by_device_and_dtype"):
            patcher.replace(module, "_group_tensors_by_device_and_dtype", group_tensors)
