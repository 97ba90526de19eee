"""Synchronisations with nothing to wait for."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "after a copy to the host": """
x = torch.rand(8, device="cuda")
y = x.cpu()
torch.cuda.synchronize()  # DEV503
""",
    "after item": """
x = torch.rand(8, device="cuda")
loss = x.sum().item()
torch.cuda.synchronize()  # DEV503
""",
    "twice": """
x = torch.rand(8, device="cuda").exp()
torch.cuda.synchronize()
torch.cuda.synchronize()  # DEV503
""",
    "with clocks in between": """
import time
def measure():
    x = torch.rand(8, device="cuda")
    start = time.time()
    y = x.cpu()
    print(time.time() - start)
    torch.cuda.synchronize()  # DEV503
    print(time.time() - start)
""",
}

GOOD = {
    "something was launched": """
x = torch.rand(8, device="cuda")
y = x.cpu()
z = x * 2
torch.cuda.synchronize()
""",
    "nothing is known": """
torch.cuda.synchronize()
def wait(x: torch.Tensor):
    torch.cuda.synchronize()
    return x.cpu()
""",
    "on one path only": """
def run(x: torch.Tensor, verbose):
    x = x.cuda() * 2
    if verbose:
        print(x.sum().item())
    torch.cuda.synchronize()
""",
    "after a copy that does not wait": """
x = torch.rand(8, device="cuda")
y = x.to("cpu", non_blocking=True)
torch.cuda.synchronize()
""",
    "in a loop, where the first time finds nothing": """
x = torch.rand(8, device="cuda")
total = x.sum().item()
for _ in range(3):
    torch.cuda.synchronize()
    y = x @ x
""",
    "after a call of something unknown": """
from kernels import launch
x = torch.rand(8, device="cuda")
y = x.cpu()
launch(x)
torch.cuda.synchronize()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV503")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV503")
