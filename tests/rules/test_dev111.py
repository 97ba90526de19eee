"""Accelerators in the worker processes of data loaders."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

LOADERS = """
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]
"""
BAD = {
    "a dataset that moves its samples": """
class Moved(Rows):
    def __getitem__(self, index):
        return {"x": self.rows[index].to("cuda"), "i": index}  # DEV111

for batch in DataLoader(Moved(torch.rand(8, 3)), batch_size=4, num_workers=2):
    print(batch["x"].sum())
""",
    "a dataset that holds them": """
data = Rows(torch.rand(8, 3).cuda())  # DEV111
for batch in DataLoader(data, num_workers=1):
    print(batch.sum())
for (batch,) in DataLoader(TensorDataset(torch.zeros(8, 3, device="cuda")), num_workers=4):  # DEV111
    print(batch.sum())
""",
    "a collate function": """
def collate(samples):
    return torch.stack(samples).cuda()  # DEV111

loader = DataLoader(Rows(torch.rand(8, 3)), batch_size=4, collate_fn=collate, num_workers=2)
for batch in loader:
    print(batch.sum())
""",
    "features computed there": """
class Encoded(Rows):
    def __init__(self, rows, net):
        super().__init__(rows)
        self.net = net

    def __getitem__(self, index):
        return self.net(self.rows[index].cuda()).detach().cpu()  # DEV111

for batch in DataLoader(Encoded(torch.rand(8, 3), nn.Linear(3, 3).cuda()), num_workers=2):
    print(batch.sum())
""",
    "where there is an accelerator, by default": """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=2)
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = Rows(torch.rand(8, 3, device=device))  # DEV111
for batch in DataLoader(data, num_workers=args.workers, multiprocessing_context="fork"):
    print(batch.sum())
""",
}
GOOD = {
    "no workers": """
data = Rows(torch.rand(8, 3).cuda())
for batch in DataLoader(data):
    print(batch.sum())
for batch in DataLoader(data, num_workers=0):
    print(batch.sum())
""",
    "on the host": """
for batch in DataLoader(Rows(torch.rand(8, 3)), num_workers=2, pin_memory=True):
    batch = batch.to("cuda", non_blocking=True)
    print(batch.sum())
""",
    "spawned": """
data = Rows(torch.rand(8, 3).cuda())
for batch in DataLoader(data, num_workers=2, multiprocessing_context="spawn"):
    print(batch.sum())
import torch.multiprocessing as mp
for batch in DataLoader(data, num_workers=2, multiprocessing_context=mp.get_context("spawn")):
    print(batch.sum())
""",
    "all processes are spawned": """
import torch.multiprocessing

def main():
    data = Rows(torch.rand(8, 3).cuda())
    for batch in DataLoader(data, num_workers=2):
        print(batch.sum())

if __name__ == "__main__":
    torch.multiprocessing.set_start_method("spawn")
    main()
""",
    "a package spawns all processes when it is imported": """
from torchrl.data import ReplayBuffer

data = Rows(torch.rand(8, 3).cuda())
for batch in DataLoader(data, num_workers=2):
    print(batch.sum())
""",
    "an unknown number of workers, or an unknown dataset": """
from settings import WORKERS, dataset

def train(rows, workers, other, device):
    for batch in DataLoader(Rows(torch.rand(8, 3).cuda()), num_workers=workers):
        print(batch)
    for batch in DataLoader(Rows(torch.rand(8, 3).cuda()), num_workers=WORKERS):
        print(batch)
    for batch in DataLoader(dataset, num_workers=2):
        print(batch)
    for batch in DataLoader(other, num_workers=2):
        print(batch)
    for batch in DataLoader(Rows(torch.rand(8, 3).to(device)), num_workers=2):
        print(batch)
""",
    "no workers by default": """
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
args = parser.parse_args()
for batch in DataLoader(Rows(torch.rand(8, 3).cuda()), num_workers=args.workers):
    print(batch.sum())
""",
    "brought to the host when the dataset is made": """
data = Rows(torch.rand(8, 3).cuda().mul(2).cpu())
for batch in DataLoader(data, num_workers=2):
    print(batch.sum())
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(LOADERS + source, "DEV111")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(LOADERS + source, "DEV111")


SPLIT = """
# file: data.py
from torch.utils.data import DataLoader, TensorDataset

def read():
    rows = torch.rand(8, 3).cuda()  # DEV111
    for (x,) in DataLoader(TensorDataset(rows), num_workers=2):
        print(x)
# file: main.py
import data
"""


def test_another_file_may_choose_the_start_method(tmp_path: Path) -> None:
    check(SPLIT, "DEV111", tmp_path)
    spawned = SPLIT.replace("  # DEV111", "") + "import multiprocessing\nmultiprocessing.set_start_method('spawn')\n"
    check(spawned, "DEV111", tmp_path)


@pytest.mark.parametrize(("package", "forked"), [("torchrl", False), ("tensordict", True)])
def test_a_package_may_choose_the_start_method(tmp_path: Path, package: str, forked: bool) -> None:
    source = SPLIT if forked else SPLIT.replace("  # DEV111", "")
    check(f"{source}import {package}.nn\n", "DEV111", tmp_path)
