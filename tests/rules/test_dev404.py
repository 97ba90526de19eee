"""Pinned tensors moved by copies that the host waits for."""

from __future__ import annotations

import pytest

from .programs import check

LOADER = (
    "from torch.utils.data import DataLoader, TensorDataset\ndata = TensorDataset(torch.rand(8, 3), torch.rand(8))\n"
)
BAD = {
    "the batches of a loader": """
for x, y in DataLoader(data, batch_size=4, pin_memory=True):
    x = x.to("cuda")  # DEV404
    y = y.cuda()  # DEV404
""",
    "with a device that may be the host": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(data, batch_size=4, pin_memory=True)
for batch in loader:
    x, y = batch
    x = x.to(device)  # DEV404
""",
    "a loader handed to a function": """
def train(loader, device):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device)  # DEV404

train(DataLoader(data, pin_memory=True), torch.device("cuda"))
""",
    "a pinned buffer": """
buffer = torch.empty(1000).pin_memory()
for _ in range(3):
    x = buffer.cuda()  # DEV404
""",
}
GOOD = {
    "non_blocking": """
for x, y in DataLoader(data, pin_memory=True):
    x = x.to("cuda", non_blocking=True)
    y = y.cuda(non_blocking=True)
    z = y.to(torch.device("cuda"), torch.float16, True)
""",
    "a flag": """
def train(loader, flag):
    for x, y in loader:
        x = x.to("cuda", non_blocking=flag)

train(DataLoader(data, pin_memory=True), True)
""",
    "not pinned": """
for x, y in DataLoader(data):
    x = x.to("cuda")
for x, y in DataLoader(data, pin_memory=False):
    x = x.to("cuda")
""",
    "no longer the pinned tensor": """
for x, y in DataLoader(data, pin_memory=True):
    x = (x * 2).to("cuda")
    y = y.float().half()
""",
    "stays on the host": """
for x, y in DataLoader(data, pin_memory=True):
    x = x.to("cpu")
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(LOADER + source, "DEV404")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(LOADER + source, "DEV404")
