"""A check of one backend, and a use of another."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a state of the program that names another backend": """
from enum import Enum

class State(Enum):
    GPU = 0
    FAST = 1

def pick(state):
    if torch.cuda.is_available() and state == State.FAST:
        return torch.device("mps")  # DEV606
    return torch.device("cpu")
""",
    "any accelerator is not CUDA": """
device = "cuda:0" if torch.accelerator.is_available() else "cpu"  # DEV606
""",
    "a check that has a name": """
has_gpu = torch.accelerator.is_available()
device = torch.device("cuda" if has_gpu else "cpu")  # DEV606
""",
    "a branch": """
def pick(rank):
    if torch.accelerator.is_available():
        device = f"cuda:{rank}"  # DEV606
    else:
        device = "cpu"
    return device
""",
    "what a function returns": """
def pick():
    if torch.accelerator.is_available():
        return "cuda"  # DEV606
    return "cpu"
""",
    "one backend and another": """
def move(x: torch.Tensor):
    if torch.cuda.is_available():
        x = x.to("mps")  # DEV606
    return x

def back(x: torch.Tensor):
    if torch.backends.mps.is_available():
        x = x.cuda()  # DEV606
    if torch.xpu.is_available():
        return torch.zeros(3, device="cuda") + x  # DEV606
    return x
""",
    "a function that only CUDA has": """
import time

def timed(step):
    start = time.time()
    step()
    if torch.accelerator.is_available():
        torch.cuda.synchronize()  # DEV606
    return time.time() - start

def peak():
    if torch.xpu.is_available():
        torch.cuda.reset_peak_memory_stats()  # DEV606
    from torch.cuda import Event
    if torch.accelerator.is_available():
        return Event(enable_timing=True)  # DEV606
""",
    "left early": """
def main():
    if not torch.accelerator.is_available():
        raise SystemExit("no accelerator")
    torch.cuda.set_device(0)  # DEV606
    return torch.zeros(3).cuda()  # DEV606
""",
}

GOOD = {
    "a state of the program that names the backend": """
from enum import Enum

class State(Enum):
    GPU = 0
    MPS = 1

state = State.GPU
try:
    if torch.backends.mps.is_available():
        state = State.MPS
except AttributeError:
    pass

def pick():
    if state == State.MPS:
        return torch.device("mps")
    return torch.device("cpu")

def show():
    if torch.cuda.is_available():
        print(pick())
""",
    "the backend that is used": """
device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
if torch.cuda.is_available():
    torch.cuda.synchronize()
if torch.xpu.is_available():
    x = torch.zeros(3, device="xpu:0")
""",
    "a chain that falls through": """
def pick():
    if torch.cuda.is_available():
        device = "cuda"
    elif torch.xpu.is_available():
        device = "xpu"
    elif torch.backends.mps.is_available():
        device = "mps"
    else:
        device = "cpu"
    return device

def after(x: torch.Tensor):
    if torch.backends.mps.is_available() or torch.cuda.is_available():
        return x.to("cuda" if torch.cuda.is_available() else "mps")
""",
    "both are asked": """
def sync():
    if torch.accelerator.is_available():
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    if torch.accelerator.is_available() and torch.cuda.is_available():
        return "cuda"
""",
    "the type of the accelerator is asked": """
def sync():
    if torch.accelerator.is_available():
        kind = torch.accelerator.current_accelerator().type
        if kind == "cuda":
            torch.cuda.synchronize()
        elif kind == "xpu":
            torch.xpu.synchronize()

def other():
    if torch.accelerator.is_available() and torch.version.cuda is not None:
        return torch.zeros(3).cuda()
""",
    "the accelerator itself": """
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
if torch.accelerator.is_available():
    torch.accelerator.synchronize()
""",
    "functions that do nothing without CUDA": """
def free():
    if torch.accelerator.is_available():
        torch.cuda.empty_cache()
        torch.cuda.manual_seed_all(0)
        print(torch.cuda.memory_allocated(), torch.cuda.is_available())
""",
    "text that is compared": """
def report(x: torch.Tensor):
    if torch.accelerator.is_available():
        print("cuda", x.device.type == "cuda", {"cuda": 1}.get("mps"))
""",
    "no check at all": """
def move(x: torch.Tensor, name="cuda"):
    device = "cuda"
    return x.to(device), x.to(name)
""",
    "the other branch": """
device = "cuda" if torch.cuda.is_available() else "mps"
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV606")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV606")


def test_the_message_names_both() -> None:
    (found,) = check('x = "cuda:0" if torch.accelerator.is_available() else "cpu"  # DEV606\n', "DEV606")
    assert found.message == (
        '`"cuda:0"` needs CUDA, but `torch.accelerator.is_available()` asks for any accelerator:'
        " this fails where there is no CUDA"
    )
    assert found.help == "take `torch.accelerator.current_accelerator()`, or check `torch.cuda.is_available()`"


def test_the_backend_that_was_asked_for_may_be_the_one_that_is_meant() -> None:
    (found,) = check('x = "cuda" if torch.backends.mps.is_available() else "cpu"  # DEV606\n', "DEV606")
    assert found.message == (
        '`"cuda"` needs CUDA, but `torch.backends.mps.is_available()` asks for MPS: this fails where there is no CUDA'
    )
    assert found.help == 'take `"mps"`, or check `torch.cuda.is_available()` if CUDA is meant'


def test_a_function_of_one_backend_has_no_namesake() -> None:
    (found,) = check("if torch.xpu.is_available():\n    torch.cuda.synchronize()  # DEV606\n", "DEV606")
    assert found.help == "check `torch.cuda.is_available()`"
