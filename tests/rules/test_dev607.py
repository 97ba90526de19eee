"""The current accelerator, where there may be none."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "its type": """
device = torch.accelerator.current_accelerator().type  # DEV607
""",
    "also if torch looks whether it is there": """
device = torch.accelerator.current_accelerator(check_available=True).type  # DEV607
""",
    "by a name": """
def main():
    accelerator = torch.accelerator.current_accelerator()
    with torch.autocast(accelerator.type):  # DEV607
        return torch.ones(3, device=accelerator)
""",
    "what the program says of a device": """
def pick(device=None):
    if device is None:
        device = torch.accelerator.current_accelerator().type  # DEV607
    return torch.zeros(3, device=device)
""",
    "a device of it": """
def place(rank: int):
    return torch.device(torch.accelerator.current_accelerator(), rank)  # DEV607
""",
    "its text": """
def place():
    device = str(torch.accelerator.current_accelerator())
    return torch.zeros(3, device=device)  # DEV607

def indexed(rank: int):
    return torch.zeros(3, device=f"{torch.accelerator.current_accelerator()}:0")  # DEV607
""",
    "on one path": """
def pick(name):
    device = torch.accelerator.current_accelerator() if name is None else torch.device(name)
    return device.type  # DEV607
""",
    "a script that only warns": """
import torch.multiprocessing as mp

def worker(rank: int, size: int):
    device = torch.device(torch.accelerator.current_accelerator())  # DEV607

if __name__ == "__main__":
    if torch.accelerator.device_count() < 2:
        print("slow")
    mp.spawn(worker, args=(2,), nprocs=2)
""",
}

GOOD = {
    "a script that leaves before it starts processes": """
import torch.multiprocessing as mp

def enough_gpus(count: int):
    return torch.accelerator.is_available() and torch.accelerator.device_count() >= count

def worker(rank: int, size: int):
    device = torch.device(torch.accelerator.current_accelerator())

if __name__ == "__main__":
    if not enough_gpus(2):
        exit()
    mp.spawn(worker, args=(2,), nprocs=2)
""",
    "checked before": """
def pick():
    if torch.accelerator.is_available():
        return torch.accelerator.current_accelerator().type
    return "cpu"

device = torch.accelerator.current_accelerator().type if torch.accelerator.is_available() else "cpu"
""",
    "compared with None": """
def pick():
    accelerator = torch.accelerator.current_accelerator()
    if accelerator is None:
        return "cpu"
    return accelerator.type

def other():
    if (accelerator := torch.accelerator.current_accelerator(check_available=True)) is not None:
        return torch.device(accelerator.type, 0)

def third():
    accelerator = torch.accelerator.current_accelerator()
    return accelerator.type if accelerator else "cpu"

def fourth():
    accelerator = torch.accelerator.current_accelerator()
    assert accelerator is not None
    return accelerator.index, str(accelerator)
""",
    "something else instead": """
device = torch.accelerator.current_accelerator() or torch.device("cpu")
x = torch.ones(3, device=device.type)
y = torch.ones(3, device=str(device))
""",
    "the default device instead": """
x = torch.ones(3, device=torch.accelerator.current_accelerator())
y = torch.ones(3).to(torch.accelerator.current_accelerator())
""",
    "text that is only shown": """
accelerator = torch.accelerator.current_accelerator()
print(str(accelerator), f"runs on {accelerator}", accelerator)
""",
    "another check": """
def pick(args):
    if torch.cuda.is_available():
        kind = torch.accelerator.current_accelerator().type
    if torch.accelerator.device_count() > 1:
        kind = torch.accelerator.current_accelerator().type
    if args.use_gpu:
        kind = torch.accelerator.current_accelerator().type

def main():
    if not torch.accelerator.is_available():
        raise SystemExit(1)
    return torch.accelerator.current_accelerator().type
""",
    "somebody else's object": """
def pick(accelerator):
    return accelerator.device.type, accelerator.current_accelerator().type
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV607")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV607")


def test_one_accelerator_is_one_finding() -> None:
    check(
        """
accelerator = torch.accelerator.current_accelerator()
print(accelerator.type)  # DEV607
print(accelerator.type)
""",
        "DEV607",
    )
