"""TensorIterator's device check: the first accelerator decides, and few 0-dim host operands are allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch

from devlint.runtime import torch_errors
from devlint.runtime.storage_labels import UNDECIDED, UNKNOWN_HOST, Placement, label_of


class Operand(NamedTuple):
    """A tensor argument, its position among the arguments, and whether the operator writes to it."""

    position: int
    tensor: torch.Tensor
    written: bool


class HostScalars(NamedTuple):
    """The 0-dim host operands that a kernel takes: how many, and at which positions (None: any)."""

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
    """Return which 0-dim host operands the CUDA kernel of an operator takes; most take one, anywhere."""
    return _EXCEPTIONS.get(operator.removeprefix("_foreach_").rstrip("_"), _ONE_ANYWHERE)


def decided_placement(tensor: torch.Tensor) -> Placement | None:
    """Return a tensor's placement, or None while it is undecided."""
    label = label_of(tensor)
    if label is None:
        return UNKNOWN_HOST
    return None if label.place is UNDECIDED else label.place


def check_operands(operands: Iterable[Operand], allowed: HostScalars, operator: str) -> None:
    """Raise the error that TensorIterator, or the kernel behind it, raises for these operands."""
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
