"""Process groups and mixed precision for one backend, where the device is chosen at run time."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a class that may set another device than CUDA": """
class Runner:
    def __init__(self, index: int, host: bool):
        self.device = torch.device(f"cuda:{index}")
        if host:
            self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def run(self, model, x: torch.Tensor):
        with torch.autocast("cuda"):  # DEV611
            return model(x)
""",
    "a function whose own device may be the host": """
import torch.distributed as dist

chosen = "cuda" if torch.cuda.is_available() else "cpu"

def worker(rank: int, model):
    dist.init_process_group("nccl", rank=rank)  # DEV610
    device = torch.device(f"cuda:{rank}") if rank else chosen
    with torch.autocast("cuda"):  # DEV611
        return model(torch.ones(2, device=device))
""",
    "process groups": """
import torch.distributed as dist
from torch.distributed import init_process_group

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def setup(rank: int):
    dist.init_process_group("nccl", rank=rank)  # DEV610

def again(rank: int):
    init_process_group(backend="nccl")  # DEV610
    return torch.distributed.new_group([0, 1], backend="nccl")  # DEV610
""",
    "an accelerator of any kind": """
def setup(rank: int):
    torch.distributed.init_process_group(backend="nccl")  # DEV610
    return torch.accelerator.current_accelerator() or torch.device("cpu")
""",
    "a branch that chooses no device": """
import os
import torch.distributed as dist

def setup(rank: int):
    if "LOCAL_RANK" in os.environ:
        dist.init_process_group("nccl", rank=rank)  # DEV610
        device = "cuda" if torch.cuda.is_available() else "cpu"
    elif rank > 1:
        dist.init_process_group("nccl", rank=rank)  # DEV610
        device = None
    else:
        device = torch.device("cuda")
    return device

if __name__ == "__main__":
    dist.init_process_group("nccl")  # DEV610
    print(torch.zeros(3, device="cuda"))
""",
    "mixed precision": """
device = "cuda" if torch.cuda.is_available() else "cpu"

def step(model, x: torch.Tensor):
    with torch.autocast("cuda"):  # DEV611
        model(x.to(device))
    with torch.amp.autocast(device_type="cuda", dtype=torch.bfloat16):  # DEV611
        return model(x.to(device))
""",
    "mixed precision of torch.cuda": """
from torch.cuda.amp import GradScaler, autocast

device = torch.device("mps" if torch.backends.mps.is_available() else "cpu")

def step(model, x: torch.Tensor):
    scaler = GradScaler()  # DEV611
    with torch.cuda.amp.autocast(enabled=True), autocast():  # DEV611
        return scaler.scale(model(x.to(device)))
""",
    "a scaler": """
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")

def scaler(model: nn.Module):
    model.half()
    return torch.amp.GradScaler("cuda")  # DEV611
""",
}

GOOD = {
    "a class whose device is always one of CUDA": """
def host_or_not():
    return "cuda" if torch.cuda.is_available() else "cpu"

class Runner:
    def __init__(self, index: int):
        self.device = torch.device(f"cuda:{index}")

    def run(self, model, x: torch.Tensor):
        with torch.autocast("cuda"):
            return model(x)
""",
    "the host both ways": """
class Starter:
    def __init__(self):
        self.device = "cpu" if torch.cuda.is_available() else "cpu"
        self.model = torch.load("model.pt", map_location="cpu")

def run(model, x: torch.Tensor):
    with torch.autocast("cuda"):
        return model(x)
""",
    "a function with a device of CUDA of its own": """
import torch.distributed as dist

device = "cuda" if torch.cuda.is_available() else "cpu"

def worker(rank: int, model):
    dist.init_process_group("nccl", rank=rank)
    device = torch.device(f"cuda:{rank}")
    with torch.autocast("cuda"):
        return model(torch.ones(2, device=device))
""",
    "a file that refuses to run without CUDA": """
import torch.distributed as dist

assert torch.cuda.is_available(), "needs CUDA"
device = "cuda" if torch.cuda.is_available() else "cpu"

def setup(rank: int):
    dist.init_process_group("nccl", rank=rank)
""",
    "a scaler of losses that nothing computes in half precision": """
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
scaler = torch.amp.GradScaler("cuda")
""",
    "a scaler only where there is one": """
def step(model, x, scaler):
    if scaler is not None:
        with torch.autocast("cuda"):
            return scaler.scale(model(x))
    return model(x)

def main(model, x):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return step(model, x, torch.amp.GradScaler("cuda") if device.type == "cuda" else None)
""",
    "tests that need CUDA": """
import unittest

class Case(unittest.TestCase):
    device = "cpu" if not torch.cuda.is_available() else "cuda"

    @unittest.skipIf(not torch.cuda.is_available(), "needs a GPU")
    def test_step(self):
        with torch.autocast("cuda"):
            return torch.zeros(3)
""",
    "a check that chooses nothing": """
def main(rank: int):
    print("CUDA:", torch.cuda.is_available())
    torch.distributed.init_process_group("nccl", rank=rank)
    with torch.autocast("cuda"):
        return torch.zeros(3)
""",
    "chosen together": """
import torch.distributed as dist

def setup(rank: int):
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, rank=rank)
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    if torch.cuda.is_available():
        dist.init_process_group("nccl")
    dist.init_process_group()
    dist.init_process_group("cpu:gloo,cuda:nccl")
""",
    "chosen together in a branch": """
import os
import torch.distributed as dist

class Trainer:
    def __init__(self, workers: int):
        if "LOCAL_RANK" in os.environ:
            local_rank = int(os.environ["LOCAL_RANK"])
            dist.init_process_group(backend="nccl", init_method="env://")
            self.device = torch.device(f"cuda:{local_rank}")
        elif workers > 1:
            self.device = torch.device("cuda", 0)
            dist.init_process_group("nccl")
        else:
            self.device = "cuda:0" if torch.cuda.is_available() else "cpu"
""",
    "a program for CUDA": """
import torch.distributed as dist

def main(rank: int):
    dist.init_process_group("nccl")
    x = torch.zeros(3, device=f"cuda:{rank}")
    with torch.autocast("cuda"), torch.cuda.amp.autocast():
        return x @ x
""",
    "the caller tells": """
import torch.distributed as dist

def setup(args, backend="nccl"):
    dist.init_process_group(args.backend)
    dist.init_process_group(backend)
    if args.distributed_backend == "nccl":
        dist.init_process_group("nccl")
    return torch.cuda.is_available()
""",
    "kernels that are always imported": """
import fused_adam_cuda
import torch.distributed as dist

device = "cuda" if torch.cuda.is_available() else "cpu"

def setup(rank: int):
    dist.init_process_group("nccl", rank=rank)
    with torch.autocast("cuda"):
        return torch.zeros(3, device=device)
""",
    "the type of the device": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def step(model, x: torch.Tensor):
    with torch.autocast(device.type), torch.autocast(x.device.type, dtype=torch.bfloat16):
        return model(x), torch.amp.GradScaler(device.type)
""",
    "turned off elsewhere": """
use_amp = torch.cuda.is_available()
scaler = torch.amp.GradScaler("cuda", enabled=use_amp)

def step(model, x: torch.Tensor, device):
    with torch.autocast("cuda", enabled=device.type == "cuda"):
        y = model(x)
    with torch.cuda.amp.autocast(enabled=False):
        return y.float()
""",
    "behind a check": """
def step(model, x: torch.Tensor):
    if torch.cuda.is_available():
        with torch.autocast("cuda"):
            return model(x)
    if x.device.type == "cuda":
        with torch.cuda.amp.autocast():
            return model(x)
""",
    "the host": """
def step(model, x: torch.Tensor):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(x), torch.cuda.is_available()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV61")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV61")


def test_mixed_precision_is_one_finding() -> None:
    program = """
device = "xpu" if torch.xpu.is_available() else "cpu"
half = torch.float16
scaler = torch.cuda.amp.GradScaler()  # DEV611
"""
    check(program, "DEV6")


def test_a_device_that_is_written_out_is_reported_once() -> None:
    program = """
device = "cuda" if torch.cuda.is_available() else "cpu"

def step(model, x: torch.Tensor):
    with torch.autocast("cuda"):  # DEV611
        return model(x.to(device)) + torch.ones(3, device="cuda")  # DEV601
"""
    check(program, "DEV6")


@pytest.mark.parametrize(
    ("chosen", "type_"),
    [
        ('"cuda" if torch.cuda.is_available() else "cpu"', "device"),
        ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', "device.type"),
    ],
)
def test_the_advice_takes_the_device_as_the_program_has_it(chosen: str, type_: str) -> None:
    program = f"""
device = {chosen}
half = torch.float16
scaler = torch.cuda.amp.GradScaler()  # DEV611
with torch.cuda.amp.autocast(dtype=half):  # DEV611
    pass
with torch.autocast("cuda", dtype=half):  # DEV611
    pass
"""
    found = check(program, "DEV611")
    calls = f"torch.amp.GradScaler({type_})", f"torch.autocast({type_}, ...)", f"torch.autocast({type_}, ...)"
    assert [one.help for one in found] == [f"pass the type of the device: `{one}`" for one in calls]


def test_the_advice_for_a_process_group_holds_on_the_host_too() -> None:
    program = """
import torch.distributed as dist

def main(rank):
    where = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")
    dist.init_process_group(backend="nccl")  # DEV610
    dist.all_reduce(torch.ones(1, device=where))
"""
    (found,) = check(program, "DEV610")
    assert found.help == (
        "take the backend from the device, which needs torch 2.6:"
        " `torch.distributed.get_default_backend_for_device(where)`"
    )
