"""Tests of what `autocast("cuda")` casts on the emulated device, and of what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from devlint.runtime import NotEmulated

HALVES = [torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN, nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_recurrent_layers_run_in_half(kind: Any, dtype: torch.dtype, device: torch.device) -> None:
    layer = kind(6, 8).to(device)
    with torch.autocast("cuda", dtype=dtype):
        out = layer(torch.randn(4, 6, device=device))
    assert {tensor.dtype for tensor in tree_leaves(out)} == {dtype}


@pytest.mark.parametrize("dtype", HALVES)
def test_only_what_is_on_the_device_is_cast(dtype: torch.dtype, device: torch.device) -> None:
    host, near = torch.ones(2, 2), torch.ones(2, 2, device=device)
    with torch.autocast("cuda", dtype=dtype):
        assert (host @ host).dtype is torch.float32
        assert (near @ near).dtype is dtype
        assert nn.Linear(2, 2)(host).dtype is torch.float32
        assert (near.double() @ near.double()).dtype is torch.float64


def test_what_cuda_leaves_alone_is_left_alone(device: torch.device) -> None:
    image = torch.ones(1, 1, 4, 4, 4, device=device, dtype=torch.bfloat16)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert nn.functional.max_pool3d(image, 2).dtype is torch.bfloat16
        weight = torch.ones(1, 1, 3, 3, device=device)
        assert nn.functional.conv2d(image[:, :, 0], weight, padding="same").dtype is torch.bfloat16


def test_a_weight_is_cast_once(device: torch.device) -> None:
    weight = torch.ones(2, 2, device=device, requires_grad=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        (weight @ weight).sum().backward()
    assert weight.grad is not None and weight.grad.dtype is torch.float32


def test_autocast_nests(device: torch.device) -> None:
    near = torch.ones(2, 2, device=device)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        with torch.autocast("cuda", enabled=False):
            assert (near @ near).dtype is torch.float32
        with torch.autocast("cpu", enabled=False):
            assert (near @ near).dtype is torch.bfloat16
        assert (near @ near).dtype is torch.bfloat16
    assert (near @ near).dtype is torch.float32


def test_autocast_of_host_and_device_at_once_is_refused(device: torch.device) -> None:
    with pytest.raises(NotEmulated), torch.autocast("cuda"), torch.autocast("cpu"):
        pass
    with torch.autocast("cpu"), pytest.raises(NotEmulated), torch.autocast("cuda"):
        pass
