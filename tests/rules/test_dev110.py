"""Tensors on an accelerator that are to be pinned."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

LOADERS = "from torch.utils.data import DataLoader, Dataset, TensorDataset\n"
BAD = {
    "a method": """
x = torch.rand(3, device="cuda")
y = x.pin_memory()  # DEV110
z = torch.rand(3).cuda().pin_memory()  # DEV110
""",
    "a factory": """
x = torch.zeros(3, device="cuda", pin_memory=True)  # DEV110
y = torch.empty(3, device=torch.device("cuda", 0), pin_memory=True)  # DEV110
""",
    "where there is an accelerator": """
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros(3, device=device).pin_memory()  # DEV110
""",
    "a loader of tensors": """
data = TensorDataset(torch.rand(8, 3).cuda(), torch.rand(8))
loader = DataLoader(data, batch_size=4, pin_memory=True)  # DEV110
for x, y in loader:
    print(x.sum())
""",
    "a dataset that moves its samples": """
class Rows(Dataset):
    def __init__(self, rows, device):
        self.rows, self.device = rows, device

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {"x": self.rows[i].to(self.device), "i": i}

def train(loader):
    for batch in loader:
        print(batch["x"])

train(DataLoader(Rows(torch.rand(8, 3), torch.device("cuda")), pin_memory=True))  # DEV110
""",
    "a collate function": """
def collate(samples):
    return torch.stack([one[0] for one in samples]).to("cuda")

data = TensorDataset(torch.rand(8, 3))
for batch in DataLoader(data, batch_size=4, collate_fn=collate, pin_memory=True):  # DEV110
    print(batch.sum())
""",
}
GOOD = {
    "pinned before it is moved": """
x = torch.rand(3).pin_memory()
y = x.to("cuda", non_blocking=True)
z = torch.zeros(3, pin_memory=True).cuda()
""",
    "not pinned": """
x = torch.zeros(3, device="cuda", pin_memory=False)
data = TensorDataset(torch.rand(8, 3).cuda())
for (batch,) in DataLoader(data, batch_size=4):
    print(batch.sum())
for (batch,) in DataLoader(data, batch_size=4, pin_memory=False):
    print(batch.sum())
""",
    "brought back first": """
x = torch.rand(3, device="cuda")
y = x.cpu().pin_memory()
""",
    "pinned only if it is on the host": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(3, device=device)
if x.device.type == "cpu":
    x = x.pin_memory()
if not x.is_cuda:
    x = x.pin_memory()
""",
    "an unknown device, flag or dataset": """
from settings import DEVICE, PIN, make_dataset

def load(x, device, pin):
    a = x.pin_memory()
    b = torch.zeros(3, device=device, pin_memory=True)
    c = torch.zeros(3, device=DEVICE, pin_memory=True)
    for batch in DataLoader(make_dataset("cuda"), pin_memory=True):
        print(batch)
    for batch in DataLoader(TensorDataset(x), pin_memory=True):
        print(batch)
    for batch in DataLoader(TensorDataset(torch.zeros(3, device="cuda")), pin_memory=PIN):
        print(batch)
    return a
""",
    "moved by the loop": """
data = TensorDataset(torch.rand(8, 3))
for (batch,) in DataLoader(data, batch_size=4, pin_memory=True):
    batch = batch.to("cuda", non_blocking=True)
    print(batch.sum())
""",
    "what is pinned is on the host": """
def pinned(x: torch.Tensor, y: torch.Tensor):
    x = x.pin_memory()
    return x.numpy()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(LOADERS + source, "DEV110")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(LOADERS + source, "DEV110")


def test_a_loader_of_another_file(tmp_path: Path) -> None:
    (found,) = check(
        """
# file: data.py
from torch.utils.data import DataLoader, TensorDataset
def make(x):
    return DataLoader(TensorDataset(x), pin_memory=True)  # DEV110
# file: main.py
from data import make
for (batch,) in make(torch.rand(8, 3, device="cuda")):
    print(batch)
""",
        "DEV110",
        tmp_path,
    )
    assert found.message == "the loader cannot pin its batches, which are on cuda: only host memory can be pinned"
    assert [Path(one.region.filename).name for one in found.trace] == ["main.py", "main.py"]
