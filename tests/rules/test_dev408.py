"""Transfers of single samples."""

from __future__ import annotations

import pytest

from devlint.diagnostic import Severity

from .programs import check

IMPORTS = "from torch.utils.data import DataLoader, Dataset\n"
BAD = {
    "in a dataset": """
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return torch.tensor(self.rows[index]).to("cuda")  # DEV408
""",
    "to the device that the caller chooses, once for a sample": """
class Rows(Dataset):
    def __init__(self, rows, device):
        self.rows, self.device = rows, device

    def __getitem__(self, index):
        x = torch.from_numpy(np.asarray(self.rows[index])).to(self.device)  # DEV408
        y = torch.tensor(index).to(self.device)
        return x, y
""",
    "in a helper of the dataset": """
class Rows(Dataset):
    def __getitem__(self, index):
        return self.placed(torch.zeros(3) + index)

    def placed(self, x: torch.Tensor):
        return torch.zeros(3).add(1).cuda()  # DEV408
""",
    "an array that torch copies there": """
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return torch.as_tensor(np.asarray(self.rows[index]), device="cuda")  # DEV408
""",
    "in a collate function": """
def collate(samples):
    return torch.stack([torch.tensor(one).to("cuda") for one in samples])  # DEV408
""",
    "results that are read one by one": """
def run(n: int):
    kept = []
    for _ in range(n):
        kept.append(torch.rand(3, device="cuda"))
    return torch.stack([one.cpu() for one in kept])  # DEV408
""",
}

GOOD = {
    "the whole, once": """
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = torch.tensor(rows).to("cuda")

    def __getitem__(self, index):
        return self.rows[index]
""",
    "the whole, when it is first asked for": """
class Rows(Dataset):
    def __init__(self, rows):
        self.rows, self.moved = rows, None

    def __getitem__(self, index):
        return self.rows[index]

    def place(self):
        self.moved = torch.tensor(self.rows).to("cuda")
""",
    "the batch": """
def collate(samples):
    return torch.stack([torch.tensor(one) for one in samples]).to("cuda")

def run(model, data):
    for batch in DataLoader(data, collate_fn=collate):
        print(model(batch.to("cuda")))
""",
    "on the host": """
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        return torch.tensor(self.rows[index]).to("cpu"), torch.zeros(3).float()
""",
    "no dataset": """
class Frames:
    def __init__(self, frames):
        self.frames = frames

    def __getitem__(self, index):
        return torch.tensor(self.frames[index]).to("cuda")
""",
    "results of several devices": """
def gather(outputs):
    return torch.stack([one.to("cuda:0") for one in outputs])

def run():
    a, b = torch.rand(3, device="cuda:0"), torch.rand(3, device="cuda:1")
    return torch.stack([one.to("cuda:0") for one in (a, b)])
""",
    "elements that are kept one by one": """
def spread(rows):
    return [torch.tensor(one).to("cuda") for one in rows]
""",
    "created on the accelerator": """
class Noise(Dataset):
    def __getitem__(self, index):
        return torch.rand(3, device="cuda")
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    (found,) = check(IMPORTS + source, "DEV408")
    assert found.severity is Severity.INFO


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(IMPORTS + source, "DEV408")


def test_the_message_tells_what_to_move_at_once() -> None:
    (found,) = check(IMPORTS + BAD["in a collate function"], "DEV408")
    assert found.message == (
        '`torch.tensor(one).to("cuda")` moves each element to cuda by itself before `torch.stack` puts them together'
        " in every iteration"
    )
    assert found.help == "put them together first, and use `.to()` once"
