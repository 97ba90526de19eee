"""Dtypes that the backend of a device does not have."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "written out": """
x = torch.zeros(3, dtype=torch.float64, device="mps")  # DEV609
""",
    "a device that was chosen": """
device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"

def make(n):
    return torch.full((n, n), 0.5, dtype=torch.double, device=device)  # DEV609
""",
    "the default dtype": """
torch.set_default_dtype(torch.float64)
x = torch.rand(3, device="mps:0")  # DEV609
""",
    "a cast there": """
def widen(n):
    x = torch.rand(n, device="mps")
    return x.double(), x.to(torch.float64)  # DEV609
""",
}

GOOD = {
    "dtypes that it has": """
x = torch.zeros(3, dtype=torch.float16, device="mps")
y = torch.zeros(3, device="mps").float() + torch.arange(3, device="mps")
""",
    "cast before": """
x = torch.zeros(3, dtype=torch.float64).float().to("mps")
y = torch.zeros(3, dtype=torch.float64).to("mps", torch.float32)
""",
    "another device": """
x = torch.zeros(3, dtype=torch.float64, device="cuda")
y = torch.zeros(3, dtype=torch.float64)
z = torch.zeros(3, device="mps").cpu().double()
""",
    "guarded by the device": """
device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")

def make(n):
    dtype = torch.float32 if device.type == "mps" else torch.float64
    if device.type != "mps":
        return torch.zeros(n, dtype=torch.float64, device=device)
    return torch.zeros(n, dtype=dtype, device=device)
""",
    "the caller's device": """
def make(x: torch.Tensor, device):
    return torch.zeros(3, dtype=torch.float64, device=device), x.double()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV609")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV609")


def test_the_message_says_where_the_dtype_is_missing() -> None:
    program = """
if torch.cuda.is_available():
    device = torch.device("cuda")
elif torch.backends.mps.is_available():
    device = torch.device("mps")
else:
    device = torch.device("cpu")
grid = torch.linspace(0, 1, 100, dtype=torch.float64, device=device)  # DEV609
"""
    (found,) = check(program, "DEV609")
    assert found.message == (
        "`torch.linspace` makes float64 on mps when `not torch.cuda.is_available()` and"
        " `torch.backends.mps.is_available()`: mps has no float64, so this raises"
    )
    assert [one.message for one in found.assumptions] == ["there is no CUDA"]
