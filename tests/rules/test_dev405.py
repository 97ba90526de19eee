"""Tensors that are pinned only to be moved."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Severity

from .programs import check

BAD = {
    "in one expression": """
for _ in range(100):
    x = torch.rand(64, 3).pin_memory().to("cuda", non_blocking=True)  # DEV405
    y = torch.rand(64, 3).pin_memory().cuda()  # DEV405
""",
    "in two statements": """
for _ in range(100):
    x = torch.rand(64, 3)
    x = x.pin_memory()
    x = x.to("cuda", non_blocking=True)  # DEV405
    print(x.mean())
""",
    "the caller's device": """
def move(x: torch.Tensor, device: torch.device):
    return x.pin_memory().to(device, non_blocking=True)  # DEV405
""",
    "under a test of the device": """
device = "cuda" if torch.cuda.is_available() else "cpu"

def get_batch(data, ix):
    x = torch.stack([torch.from_numpy(data[i : i + 8].astype(np.int64)) for i in ix])
    if device == "cuda":
        return x.pin_memory().to(device, non_blocking=True)  # DEV405
    return x.to(device)
""",
    "a pair": """
def move(x: torch.Tensor, y: torch.Tensor):
    x, y = x.pin_memory().cuda(non_blocking=True), y.pin_memory().cuda(non_blocking=True)  # DEV405
    return x + y
""",
}
GOOD = {
    "pinned once, moved often": """
buffer = torch.rand(64, 3).pin_memory()
for _ in range(100):
    x = buffer.to("cuda", non_blocking=True)
    print(x.mean())
""",
    "pinned memory that is used again": """
x = torch.rand(64, 3).pin_memory()
a, b = x.to("cuda:0", non_blocking=True), x.to("cuda:1", non_blocking=True)
y = torch.rand(64, 3).pin_memory()
c = y.cuda(non_blocking=True)
print(y.sum())
""",
    "a buffer made pinned": """
class Feeder:
    def __init__(self, n):
        self.buffer = torch.empty(n, pin_memory=True)

    def move(self, x):
        self.buffer.copy_(x)
        return self.buffer.to("cuda")
""",
    "in a thread": """
import threading

def feed(queue, xs):
    for x in xs:
        queue.put(x.pin_memory().to("cuda", non_blocking=True))

threading.Thread(target=feed)
""",
    "by the loader": """
from torch.utils.data import DataLoader, TensorDataset
for (x,) in DataLoader(TensorDataset(torch.rand(8, 3)), pin_memory=True):
    x = x.to("cuda", non_blocking=True)
    print(x.sum())
""",
    "not moved, or only cast": """
x = torch.rand(64, 3).pin_memory()
y = x.to("cpu")
z = x.to(torch.float16)
""",
    "pinned on one path only": """
def move(x: torch.Tensor, pin: bool):
    if pin:
        x = x.pin_memory()
    return x.to("cuda", non_blocking=pin)
""",
    "computed with": """
x = torch.rand(64, 3).pin_memory()
y = (x * 2).to("cuda")
z = torch.rand(64, 3).pin_memory()[0].cuda()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV405")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV405")


def test_it_is_an_information() -> None:
    (found,) = check("while True:\n    x = torch.rand(640, 300).pin_memory().cuda()  # DEV405\n", "DEV405")
    assert found.severity is Severity.INFO
    assert found.message == (
        "pinning `torch.rand(640, 300)` only to move it to cuda costs one more copy on the host, which waits for it"
    )
