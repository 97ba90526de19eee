"""Sample calls spelled out by hand, for what OpInfo does not cover or covers through a wrapper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Arguments = tuple[Any, ...]


def f(*size: int) -> torch.Tensor:
    """A float32 tensor with values in (0, 1)."""
    return torch.rand(size) * 0.8 + 0.1


def i(*size: int, high: int = 2) -> torch.Tensor:
    """An int64 tensor."""
    return torch.randint(0, high, size)


def b(*size: int) -> torch.Tensor:
    """A bool tensor with both values in it."""
    return torch.arange(max(1, torch.Size(size).numel())).reshape(size) % 2 == 0


SPELLED: dict[str, Callable[[], list[Arguments]]] = {
    "torch.einsum": lambda: [("ij,jk->ik", f(2, 3), f(3, 4)), ("ij->i", f(2, 3)), ("ij,ij->", f(2, 3), f(2, 3))],
    "torch.where": lambda: [(b(2, 3), f(2, 3), f(2, 3)), (b(3), f(2, 3), f(1, 3)), (b(2, 3), f(2, 3), 1.0),
                            (b(2, 3), 0.0, f(2, 3)), (b(2, 3),)],
    "torch.nonzero": lambda: [(f(2, 3),), (f(3),)],
    "torch.Tensor.nonzero": lambda: [(f(2, 3),), (f(3),)],
    "torch.nn.functional.embedding": lambda: [(i(2, 3), f(4, 5)), (i(3), f(4, 5)), (i(), f(4, 5))],
    "torch.embedding": lambda: [(f(4, 5), i(2, 3)), (f(4, 5), i(3))],
    "torch.relu": lambda: [(f(2, 3),), (f(),)],
    "torch.selu": lambda: [(f(2, 3),), (f(),)],
    "torch.celu": lambda: [(f(2, 3),), (f(),)],
    "torch.threshold": lambda: [(f(2, 3), 0.5, 0.0)],
    "torch.rrelu": lambda: [(f(2, 3),)],
    "torch.dropout": lambda: [(f(2, 3), 0.5, True), (f(2, 3), 0.5, False)],
    "torch.detach": lambda: [(f(2, 3),)],
    "torch.is_floating_point": lambda: [(f(2),)],
    "torch.is_complex": lambda: [(f(2),)],
    "torch.is_nonzero": lambda: [(f(1),)],
    "torch.is_tensor": lambda: [(f(1),)],
    "torch.is_same_size": lambda: [(f(2), f(2))],
    "torch.numel": lambda: [(f(2),)],
    "torch.get_device": lambda: [(f(2),)],
    "torch.result_type": lambda: [(f(2), f(2))],
    "torch.poisson": lambda: [(f(2, 3),), (f(),)],
    "torch.binomial": lambda: [(f(2, 3), f(2, 3))],
    "torch.vander": lambda: [(f(3),)],
    "torch.slogdet": lambda: [(f(3, 3),), (f(2, 3, 3),)],
    "torch.chain_matmul": lambda: [(f(2, 3), f(3, 4))],
    "torch.kl_div": lambda: [(f(2, 3), f(2, 3))],
    "torch.polygamma": lambda: [(1, f(2, 3)), (1, f())],
    "torch.special.polygamma": lambda: [(1, f(2, 3)), (1, f())],
    "torch.special.gammainc": lambda: [(f(2, 3), f(2, 3))],
    "torch.special.gammaincc": lambda: [(f(2, 3), f(2, 3))],
    "torch.svd_lowrank": lambda: [(f(4, 4), 2)],
    "torch.pca_lowrank": lambda: [(f(4, 4), 2)],
    "torch.rand": lambda: [(2, 3), ((2, 3),)],
    "torch.randperm": lambda: [(4,)],
    "torch.hann_window": lambda: [(4,)],
    "torch.hamming_window": lambda: [(4,)],
    "torch.blackman_window": lambda: [(4,)],
    "torch.bartlett_window": lambda: [(4,)],
    "torch.kaiser_window": lambda: [(4,)],
    "torch.fft.fftfreq": lambda: [(4,)],
    "torch.fft.rfftfreq": lambda: [(4,)],
    "torch.nn.functional.upsample": lambda: [(f(1, 1, 4, 4), 8)],
    "torch.nn.functional.fold": lambda: [(f(1, 4, 9), (4, 4), 2)],
    "torch.nn.functional.gumbel_softmax": lambda: [(f(2, 3),)],
    "torch.nn.functional.affine_grid": lambda: [(f(1, 2, 3), (1, 1, 4, 4))],
    "torch.nn.functional.lp_pool1d": lambda: [(f(1, 2, 8), 2.0, 2)],
    "torch.nn.functional.lp_pool2d": lambda: [(f(1, 2, 8, 8), 2.0, 2)],
    "torch.nn.functional.lp_pool3d": lambda: [(f(1, 2, 8, 8, 8), 2.0, 2)],
    "torch.nn.functional.dropout1d": lambda: [(f(1, 2, 8),)],
    "torch.Tensor.copy_": lambda: [(f(2, 3), f(2, 3)), (f(2, 3), f(3)), (f(2, 3), f())],
    "torch.Tensor.type_as": lambda: [(f(2, 3), f(2, 3)), (f(2, 3), i(3))],
    "torch.Tensor.detach": lambda: [(f(2, 3),), (f(),)],
    "torch.Tensor.detach_": lambda: [(f(2, 3),)],
    "torch.Tensor.relu": lambda: [(f(2, 3),), (f(),)],
    "torch.Tensor.relu_": lambda: [(f(2, 3),), (f(),)],
    "torch.Tensor.tolist": lambda: [(f(2, 3),)],
    "torch.Tensor.dim": lambda: [(f(2, 3),)],
    "torch.Tensor.ndimension": lambda: [(f(2, 3),)],
    "torch.Tensor.numel": lambda: [(f(2, 3),)],
    "torch.Tensor.size": lambda: [(f(2, 3),), (f(2, 3), 0)],
    "torch.Tensor.stride": lambda: [(f(2, 3),)],
    "torch.Tensor.element_size": lambda: [(f(2, 3),)],
    "torch.Tensor.data_ptr": lambda: [(f(2, 3),)],
    "torch.Tensor.is_floating_point": lambda: [(f(2, 3),)],
    "torch.Tensor.is_complex": lambda: [(f(2, 3),)],
    "torch.Tensor.is_contiguous": lambda: [(f(2, 3),)],
    "torch.Tensor.is_signed": lambda: [(f(2, 3),)],
    "torch.Tensor.is_pinned": lambda: [(f(2, 3),)],
    "torch.Tensor.is_nonzero": lambda: [(f(1),)],
    "torch.Tensor.is_same_size": lambda: [(f(2), f(2))],
    "torch.Tensor.requires_grad_": lambda: [(f(2),)],
    "torch.Tensor.__len__": lambda: [(f(2, 3),)],
    "torch.Tensor.__float__": lambda: [(f(1),), (f(),)],
    "torch.Tensor.__int__": lambda: [(f(1),), (f(),)],
    "torch.Tensor.__bool__": lambda: [(f(1),), (f(),)],
    "torch.Tensor.__index__": lambda: [(i(1),), (i(),)],
    "torch.Tensor.__complex__": lambda: [(f(1),), (f(),)],
    "torch.Tensor.__contains__": lambda: [(f(3), 1.0)],
    "torch.Tensor.normal_": lambda: [(f(2, 3),)],
    "torch.Tensor.uniform_": lambda: [(f(2, 3),)],
    "torch.Tensor.random_": lambda: [(f(2, 3),)],
    "torch.Tensor.bernoulli_": lambda: [(f(2, 3),), (f(2, 3), 0.5), (f(2, 3), f(2, 3))],
    "torch.Tensor.exponential_": lambda: [(f(2, 3),)],
    "torch.Tensor.apply_": lambda: [(f(2, 3), abs)],
    "torch.Tensor.map_": lambda: [(f(2, 3), f(2, 3), max)],
    "torch.Tensor.masked_scatter_": lambda: [(f(2, 3), b(2, 3), f(6))],
    "torch.Tensor.new_tensor": lambda: [(f(2, 3), [1.0])],
    "torch.Tensor.expand_as": lambda: [(f(1, 3), f(2, 3))],
    "torch.Tensor.view_as": lambda: [(f(2, 3), f(3, 2))],
    "torch.Tensor.reshape_as": lambda: [(f(2, 3), f(3, 2))],
    "torch.Tensor.set_": lambda: [(f(2, 3), f(3, 2))],
    "torch.nn.utils.rnn.pad_sequence": lambda: [([f(2, 3), f(4, 3)],), ([f(2), f(4)], True)],
}


def calls(name: str) -> list[Arguments]:
    """The spelled-out positional arguments for ``name``."""
    made = SPELLED.get(name)
    return made() if made is not None else []
