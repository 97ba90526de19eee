"""The census of a module: the tensors that it reaches and that are not where the module is.

`.to()` and `.cuda()` move parameters and buffers only. A tensor in a plain attribute, a list, a distribution, a closure
or a cache stays behind, and the operator that uses it with the module's own tensors fails.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from devlint.runtime.patches.tensor_queries import device_of
from devlint.runtime.reachable_tensors import reachable_tensors
from devlint.runtime.storage_labels import HistoryStep, label_of


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A tensor that a module reaches and that is on another device: the path to it, and how it came to be there.

    `home` is the device of the module's parameters. `scalar` tells that the tensor has no dimensions, which most
    operators take from the host.
    """

    path: str
    device: str
    home: str
    dtype: str
    shape: tuple[int, ...]
    steps: tuple[HistoryStep, ...]
    scalar: bool


def take_census(module: nn.Module, name: str) -> list[LeftBehind]:
    """Return the tensors that a module reaches and that are not on the accelerator on which its parameters are.

    The result is empty for a module on the host or without parameters and buffers. For a module whose parameters are on
    several accelerators, only the tensors on the host count.
    """
    homes = Counter(
        str(device_of(own)) for own in (*module.parameters(), *module.buffers()) if device_of(own).type != "cpu"
    )
    homes.pop("meta", None)
    if not homes:
        return []
    home = homes.most_common(1)[0][0]
    found = [
        _left_behind(path, tensor, home)
        for path, tensor in reachable_tensors(module, name)
        if not is_lazy(tensor) and str(device_of(tensor)) not in homes and device_of(tensor).type != "meta"
    ]
    return sorted(found, key=lambda left: left.scalar)


def _left_behind(path: str, tensor: torch.Tensor, home: str) -> LeftBehind:
    """Return the entry of the census for a tensor."""
    label = label_of(tensor)
    return LeftBehind(
        path,
        str(device_of(tensor)),
        home,
        str(tensor.dtype).removeprefix("torch."),
        tuple(tensor.shape),
        label.place.history() if label is not None else (),
        tensor.dim() == 0,
    )
