"""Accelerators that are written out."""

from __future__ import annotations

import pytest

from .programs import check

BAD = {
    "a tensor on a written device that is compared": """
def same(x: torch.Tensor):
    return x == torch.ones(3, device="cuda")  # DEV601
""",
    "cuda()": """
def encode(x: torch.Tensor):
    return x + torch.arange(3).cuda()  # DEV601
""",
    "a module": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3).cuda()  # DEV601

    def forward(self, x):
        return self.fc(x.cuda())  # DEV601
""",
    "device strings": """
def make(n: int):
    a = torch.zeros(n, device="cuda")  # DEV601
    b = torch.ones(n).to("cuda:0")  # DEV601
    c = torch.device("cuda")  # DEV601
    return a + b, c
""",
    "other accelerators": """
def make():
    return torch.zeros(3, device="mps"), torch.zeros(3, device="xpu")  # DEV601
""",
    "autocast": """
def forward(model, x):
    with torch.autocast("cuda"):  # DEV601
        return model(x)
""",
    "autocast of torch.amp": """
from torch.amp import autocast

@autocast("cuda", enabled=False)  # DEV601
def rotate(x: torch.Tensor):
    return x.flip(-1)
""",
    "an old tensor type": """
def one_hot(labels: torch.Tensor, n: int):
    out = torch.cuda.FloatTensor(labels.size(0), n).zero_()  # DEV601
    return out.scatter_(1, labels.unsqueeze(1), 1)
""",
    "where checkpoints and generators go": """
def restore(path):
    state = torch.load(path, map_location="cuda:0")  # DEV601
    generator = torch.Generator("cuda")  # DEV601
    torch.set_default_device("cuda")  # DEV601
    return state, generator
""",
}

GOOD = {
    "a device that is only compared with": """
def wait(x: torch.Tensor):
    if x.device == torch.device("cuda") or torch.device("cuda:0") != x.device:
        print(x)
""",
    "a transfer that always raises, which is another rule's matter": """
x = torch.ones(3).cuda("cpu")
""",
    "mixed precision that may be off": """
def step(model, x: torch.Tensor):
    with torch.amp.autocast(device_type="cuda", enabled=x.is_cuda):
        return model(x), torch.amp.GradScaler("cuda", enabled=torch.cuda.is_available())
""",
    "asked for": """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.zeros(3).to(device)
if torch.cuda.is_available():
    x = x.cuda()
y = torch.zeros(3).cuda() if torch.cuda.is_available() else torch.zeros(3)
""",
    "asked by name": """
use_cuda = torch.cuda.is_available()
def move(x: torch.Tensor):
    return x.cuda() if use_cuda else x
""",
    "left early": """
def main():
    if not torch.cuda.is_available():
        return
    x = torch.zeros(3).cuda()
""",
    "an old tensor type that was chosen": """
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor

def zeros(n):
    return Tensor(n, 3)
""",
    "a GPU that was asked for": """
def move(options, x: torch.Tensor):
    if options.gpu:
        return x.cuda()
    return x
""",
    "the caller chooses": """
def make(n, device="cuda"):
    return torch.zeros(n, device=device)

def move(x: torch.Tensor, use_cuda=False):
    if use_cuda:
        x = x.cuda()
    return x

class Trainer:
    def __init__(self, device=None):
        self.device = device or torch.device("cuda")
""",
    "where the tensor already is": """
def half(x: torch.Tensor):
    if x.device.type == "cuda":
        x = x.to("cuda:0")
    if x.is_cuda:
        x = x.cuda()
    return x
""",
    "the host": """
def make():
    return torch.zeros(3, device="cpu").to("cpu"), torch.device("cpu"), torch.zeros(3, device="meta")
""",
    "options": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
x = torch.zeros(3).to(args.device)
if args.cuda:
    x = x.cuda()
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV601")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV601")
