"""Functions that take a device and do not ask it."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "made on the host": """
def positions(n, device):
    return torch.arange(n)  # DEV604
""",
    "a default": """
def mask(x: torch.Tensor, device="cuda"):
    return torch.triu(torch.ones(x.size(0), x.size(0)))  # DEV604
""",
    "moved by name": """
def move(x: torch.Tensor, device=None):
    return x.cuda()  # DEV604
""",
    "bound anew": """
def move(x: torch.Tensor, device):
    device = torch.device("cuda:0")  # DEV604
    return x.to(device)

def make(n, device="cpu"):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    y = torch.zeros(n, device=device)
    z = torch.ones(n)  # DEV604
    return y + z.to(y.device)
""",
    "a method": """
class Sampler:
    def sample(self, n, *, device):
        noise = torch.randn(n, 3)  # DEV604
        return noise, torch.randn(n)
""",
}

GOOD = {
    "asked": """
def positions(n, device):
    return torch.arange(n, device=device)

def move(x: torch.Tensor, device):
    return torch.ones(3).to(device) + x.to(device)
""",
    "handed on": """
def positions(n, device):
    return helper(torch.arange(n), device)

def named(n, device):
    return torch.arange(n), dict(device=device), f"{device}"

def helper(x, where):
    return x.to(where)
""",
    "used on some path": """
def positions(n, device=None):
    x = torch.arange(n)
    if device is not None:
        x = x.to(device)
    return x

def default(n, device=None):
    device = device or "cpu"
    return torch.arange(n, device=device)

def other(n, device=None):
    if device is None:
        device = torch.device("cpu")
    return torch.arange(n, device=device)
""",
    "read by an inner function": """
def maker(device):
    x = torch.arange(3)
    def move():
        return x.to(device)
    return move
""",
    "nothing is made": """
class Base:
    def positions(self, n, device):
        raise NotImplementedError

    def size(self, x: torch.Tensor, device):
        return x.sum() + x.new_zeros(3)
""",
    "any name may be read": """
def positions(n, device):
    return torch.arange(n), locals()
""",
    "no parameter": """
def positions(n):
    device = "cpu"
    return torch.arange(n)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV604")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV604")


def test_every_tensor_made_elsewhere_is_told() -> None:
    program = """
def grid(height, width, device="cpu"):
    ys = torch.linspace(-1, 1, height)  # DEV604
    xs = torch.linspace(-1, 1, width)
    return ys, xs.cuda()
"""
    (found,) = check(program, "DEV604")
    assert found.message == "`grid` never uses what is passed as `device`: `torch.linspace` takes the default device"
    assert found.help == "pass `device=device` to `torch.linspace`, or take the parameter away"
    head, *others = found.trace
    assert (head.message, head.region.start.row, head.region.end.row) == ("`device` is never read", 6, 6)
    assert [(one.message, one.region.start.row) for one in others] == [("the same here", 8), ("the same here", 9)]


def test_a_device_by_name_is_another() -> None:
    (found,) = check("def move(x: torch.Tensor, device):\n    return x.cuda()  # DEV604\n", "DEV604")
    assert found.message == "`move` never uses what is passed as `device`: `.cuda()` names another"
    assert found.help == "take `device` instead, or take the parameter away"
