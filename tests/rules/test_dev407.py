"""Transfers to where the tensor already is."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "created there": """
x = torch.zeros(3, device="cuda")
y = x.to("cuda")  # DEV407
z = x.cuda()  # DEV407
""",
    "whatever the device is": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(3, device=device)
y = (x + 1).to(device)  # DEV407
""",
    "already moved": """
def run(x: torch.Tensor, device):
    x = x.to(device)
    y = x * 2
    return y.to(device)  # DEV407
""",
    "its own device": """
def run(x: torch.Tensor):
    return x.to(x.device)  # DEV407
""",
    "moved twice": """
def run(x: torch.Tensor, device):
    return x.cuda().to(device)  # DEV407
""",
    "the host": """
x = torch.zeros(3)
y = x.cpu().numpy()  # DEV407
""",
    "a buffer in its own module": """
class Rope(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.register_buffer("table", torch.arange(10.0))

    def forward(self, tokens):
        h = self.embed(tokens)
        return h + self.table[: tokens.size(0)].to(h.device)  # DEV407
""",
}

GOOD = {
    "between the parts of a model that may be split": """
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(3)
        self.shift = nn.Parameter(torch.zeros(2, 3))

    def forward(self, x, time):
        scale, shift = (self.shift + self.norm(time)).chunk(2)
        x = self.norm(x)
        shift = shift.to(x.device)
        return x * scale.to(x.device) + shift
""",
    "a default that the caller may have changed": """
def kernel(size: int):
    x = torch.arange(size, device="cpu", dtype=torch.float64)
    return (x / x.sum()).float().to(torch.empty(0).device)

def steps(size: int):
    return torch.linspace(0, 1, size).to("cpu")
""",
    "data that may be a tensor": """
def schedule(sigmas: list[float] | torch.Tensor):
    return torch.as_tensor(sigmas).flatten().cpu()
""",
    "elsewhere": """
x = torch.zeros(3).to("cuda")
y = x.cpu()
z = x.to("cuda:1")
""",
    "a caller's tensor": """
def run(x: torch.Tensor, device):
    return x.to(device), x.cuda(), x.cpu()
""",
    "on one path only": """
x = torch.zeros(3)
if torch.cuda.is_available():
    x = x.cuda()
y = x.cuda()
z = x.cpu()
""",
    "another device under another condition": """
def run(args):
    device = torch.device("cuda" if args.cuda else "cpu")
    x = torch.zeros(3, device="cuda")
    return x.to(device)
""",
    "a cast": """
x = torch.zeros(3, device="cuda")
y = x.to("cuda", torch.float16)
z = x.to(torch.float16)
w = x.half()
def run(x: torch.Tensor, dtype):
    return x.to(device=x.device, dtype=dtype)
def like(x: torch.Tensor, y: torch.Tensor):
    return (x + y).to(x), x.type_as(y)
""",
    "a copy": """
x = torch.zeros(3, device="cuda")
y = x.to("cuda", copy=True)
""",
    "in a loop, not the first time": """
x = torch.zeros(3)
for _ in range(3):
    x = x.to("cuda")
    x = x * 2
""",
    "a helper called for both": """
def fetch(x):
    return x.cpu()

fetch(torch.zeros(3))
fetch(torch.zeros(3, device="cuda"))
""",
    "batches of a loader": """
from torch.utils.data import DataLoader, TensorDataset
for (x,) in DataLoader(TensorDataset(torch.rand(8, 3))):
    print(x.cpu().numpy())
""",
    "a module that got new layers": """
model = nn.Sequential(nn.Linear(3, 3)).cuda()
model.append(nn.Linear(3, 3))
model.cuda()
""",
    "cuda and cuda:0 are not one word": """
x = torch.zeros(3, device="cuda")
y = x.to("cuda:0")
""",
    "a memory format": """
x = torch.zeros(1, 3, 4, 4, device="cuda")
y = x.to("cuda", memory_format=torch.channels_last)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV407")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV407")


def test_the_finding_tells_since_when_it_is_there() -> None:
    (found,) = check("x = torch.zeros(3, device='cuda')\ny = x.cuda()  # DEV407\n", "DEV407")
    assert found.message == "`x` is already on cuda: `.cuda()` does nothing"
    assert found.help == "use `x` as it is"
    assert [note.region.start.row for note in found.trace] == [5]
