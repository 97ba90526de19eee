"""Emulation of the device check in TensorIterator, the PyTorch part behind most elementwise operators.

All operands must be on the device of the first operand that is on an accelerator. A few 0-dim operands on the host are
allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch

from devlint.runtime import torch_errors
from devlint.runtime.storage_labels import UNDECIDED, UNKNOWN_HOST, Placement, label_of


class Operand(NamedTuple):
    """A tensor argument of an operator, its position among the arguments, and whether the operator writes to it."""

    position: int
    tensor: torch.Tensor
    written: bool


class HostScalars(NamedTuple):
    """The 0-dim host operands that a CUDA kernel takes: at most `limit`, at the given positions (None: at any)."""

    limit: int = 1
    positions: frozenset[int] | None = None


_ONE_ANYWHERE = HostScalars()
_ONE_AS_WEIGHT = HostScalars(positions=frozenset({2}))
_REFUSED_BY_KERNEL = HostScalars(positions=frozenset())
_NONE = HostScalars(limit=0)
_EXCEPTIONS = {
    "where": HostScalars(limit=3),
    "addcmul": _ONE_AS_WEIGHT,
    "lerp": _ONE_AS_WEIGHT,
    "mse_loss": _REFUSED_BY_KERNEL,
    "smooth_l1_loss": _REFUSED_BY_KERNEL,
    "addcdiv": _NONE,
    "binary_cross_entropy": _NONE,
    "binomial": _NONE,
    "index_fill": _NONE,
}
"""The operators that do not take one 0-dim host operand at any position."""


def allowed_host_scalars(operator: str) -> HostScalars:
    """Return how many 0-dim host operands the CUDA kernel of an operator takes, and at which positions.

    Most kernels take one at any position.
    """
    return _EXCEPTIONS.get(operator.removeprefix("_foreach_").rstrip("_"), _ONE_ANYWHERE)


def decided_placement(tensor: torch.Tensor) -> Placement | None:
    """Return a tensor's placement (device and history), or None while its device is undecided.

    It is undecided if torch's C++ code created the tensor and the tensor has met no other operand yet.
    """
    label = label_of(tensor)
    if label is None:
        return UNKNOWN_HOST
    return None if label.place is UNDECIDED else label.place


def check_operands(operands: Iterable[Operand], allowed: HostScalars, operator: str) -> None:
    """Raise the error that TensorIterator, or the kernel behind it, raises for operands on different devices.

    Nothing is raised if all operands are on one device, apart from 0-dim host operands that the kernel takes.
    """
    placed = [(operand, place) for operand in operands if (place := decided_placement(operand.tensor)) is not None]
    common = next((place for _, place in placed if place.key), None)
    if common is None:
        return
    strays = [(operand, place) for operand, place in placed if place.key != common.key]
    for operand, place in strays:
        if place.key or operand.written or operand.tensor.dim() or not allowed.limit:
            raise torch_errors.operands_on_two_devices(common.device, place.device)
    if len(strays) > allowed.limit:
        raise torch_errors.too_many_host_scalars()
    for operand, _ in strays:
        if allowed.positions is not None and operand.position not in allowed.positions:
            raise torch_errors.kernel_takes_no_host_scalar(operator.rstrip("_"), operand.position)
