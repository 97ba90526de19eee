"""Tests of TorchScript, TorchDynamo and `torch.export` while devlint emulates or records."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from devlint.runtime import NotEmulated, emulate, record

ROOT = Path(__file__).parents[2]
MODES = pytest.mark.parametrize("mode", [record, emulate], ids=["record", "emulate"])
TRACED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "float": lambda x: x * 2.5,
    "int": lambda x: x.add(2, alpha=3),
    "several": lambda x: (x * 2.0 + 1) / x.shape[0] - torch.ones_like(x) * 3,
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "in place": lambda x: x.clone().mul_(0.5),
}


@MODES
@pytest.mark.parametrize("case", TRACED)
def test_numbers_can_be_traced(case: str, mode: Callable[[], AbstractContextManager[Any]]) -> None:
    function, x = TRACED[case], torch.arange(1.0, 4.0)
    with mode():
        traced = torch.jit.trace(function, (x,))
        assert torch.equal(traced(x), function(x))
    assert torch.equal(traced(x), function(x))


@MODES
def test_a_network_can_be_traced(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    net = nn.Sequential(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(24, 2))
    x = torch.rand(2, 3, 8, 8)
    with mode():
        traced = torch.jit.trace(net, x)
        assert torch.equal(traced(x), net(x))
    assert torch.equal(traced(x), net(x))


class Reduced(nn.Module):
    """A module that holds operators as attributes, and a function of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.reduce, self.make, self.double = torch.mean, torch.zeros, doubled

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.reduce(self.double(x), dim=0) if hasattr(self, "reduce") and hasattr(self, "double") else x
        return out + self.make([3])


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x + x


@MODES
def test_operators_that_a_module_holds_can_be_scripted(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    x = torch.rand(2, 3)
    with mode():
        assert torch.equal(torch.jit.script(Reduced())(x), (x + x).mean(0))
    assert torch.equal(torch.jit.script(Reduced())(x), (x + x).mean(0))


def test_a_network_on_the_device_is_not_emulated(device: torch.device) -> None:
    with pytest.raises(NotEmulated, match=r"torch\.jit\.trace"):
        torch.jit.trace(nn.Conv2d(3, 6, 5).to(device), torch.rand(2, 3, 8, 8, device=device))


@MODES
def test_an_operator_that_refuses_a_number_still_does(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    with mode(), pytest.raises(RuntimeError, match="result type Float can't be cast"):
        torch.ones(2, dtype=torch.int64).mul_(2.5)


def test_traces_on_the_device(device: torch.device) -> None:
    traced = torch.jit.trace(lambda x: x * 2.5, (torch.ones(3, device=device),))
    assert traced(torch.ones(3, device=device)).device == device


def run(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=200, check=False, cwd=ROOT
    )


def test_dynamo_can_be_reset() -> None:
    done = run(
        "from devlint.runtime import emulate\n"
        "with emulate():\n"
        "    import torch, torch._dynamo\n"
        "    torch._dynamo.reset()\n"
        "torch._dynamo.reset()\n"
        "print(hasattr(torch._C, '_cuda_CUDAAllocator_AllocatorState'))\n"
    )
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_export_of_a_module_on_the_device_is_not_emulated(device: torch.device) -> None:
    module, x = nn.Linear(3, 2).to(device), torch.ones(4, 3, device=device)
    for strict in (False, True):
        with pytest.raises(NotEmulated, match=r"torch\.export"):
            torch.export.export(module, (x,), strict=strict)


@MODES
def test_export_of_a_module_on_the_host_works(mode: Callable[[], AbstractContextManager[Any]]) -> None:
    module, x = nn.Linear(3, 2), torch.ones(4, 3)
    with mode():
        exported = torch.export.export(module, (x,)).module()
        assert torch.equal(exported(x), module(x))
