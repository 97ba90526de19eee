"""Accelerators that are written out."""

from __future__ import annotations

from pathlib import Path

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
    b = torch.ones(n).to("cuda:0")
    return a + b

def move(x: torch.Tensor):
    return x.to("cuda:0")  # DEV601

def choose():
    return torch.device("cuda")  # DEV601
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
    return torch.load(path, map_location="cuda:0")  # DEV601

def draw():
    return torch.Generator("cuda")  # DEV601

def set_up():
    torch.set_default_device("cuda")  # DEV601
""",
    "a second device in a function, and a first": """
def shards(parts):
    for part in parts:
        yield part.cuda(0), part.to("cuda:1")  # DEV601
""",
}

GOOD = {
    "a device that is only compared with": """
def wait(x: torch.Tensor):
    if x.device == torch.device("cuda") or torch.device("cuda:0") != x.device:
        print(x)
""",
    "a transfer that does nothing, which DEV407 tells of": """
def shard(x: torch.Tensor, use_gpu: bool):
    if use_gpu:
        x = x.cuda(0)
    return x

x = torch.rand(3, device="cuda") if torch.cuda.is_available() else torch.rand(3)
if torch.cuda.is_available():
    y = x.cuda()
""",
    "no accelerator": """
def back(x: torch.Tensor):
    return x.cuda("cpu")
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


def test_a_transfer_that_does_nothing_is_left_to_dev407() -> None:
    program = """
def shard(x: torch.Tensor):
    x = x.cuda(0)  # DEV601
    return x.to("cuda:0")  # DEV407
"""
    check(program, "DEV601")
    check(program.replace("  # DEV601", ""), "DEV407")


ADVICE = {
    "sizes of a tensor of the caller": (
        """
class Shift(nn.Module):
    def forward(self, x):
        return x + torch.randn(x.shape, device="cuda:0")  # DEV601
""",
        "take the device at hand: `x.device`",
    ),
    "sizes of a tensor on the host": (
        """
def shift(n: int):
    x = torch.zeros(n)
    return torch.randn(x.shape, device="cuda") + x.to("cuda")  # DEV601
""",
        "let the caller choose: add a parameter `device` to `shift`",
    ),
    "the input of a module that its user places": (
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x.cuda())  # DEV601
""",
        "take the device at hand: `next(self.fc.parameters()).device`",
    ),
    "the input of a module that the function itself places": (
        """
def run(n: int):
    model = nn.Linear(3, 3).cuda()  # DEV601
    return model(torch.rand(n, 3).cuda())
""",
        "let the caller choose: add a parameter `device` to `run`",
    ),
    "a sample, which nobody can pass a device": (
        """
class Rows(torch.utils.data.Dataset):
    def __getitem__(self, index):
        return self.rows[index].to("cuda")  # DEV601
""",
        "let the caller choose: add a parameter `device` to `Rows`",
    ),
    "a device that the file has chosen": (
        """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def ones(n: int):
    return torch.ones(n, device="cuda")  # DEV601
""",
        "take the device at hand: `device`",
    ),
    "a device that other code chooses later": (
        """
model = nn.Linear(3, 3).to("cuda")  # DEV601
device = "cuda" if torch.cuda.is_available() else "cpu"
""",
        'choose the device once: `device = torch.device("cuda" if torch.cuda.is_available() else "cpu")`',
    ),
    "a function without parameters": (
        """
def main():
    return torch.rand(3, device="xpu")  # DEV601
""",
        'choose the device once: `device = torch.device("xpu" if torch.xpu.is_available() else "cpu")`',
    ),
    "a second device": (
        """
def move(x: torch.Tensor):
    return x.to("cuda:1")  # DEV601
""",
        "check `torch.cuda.device_count()`, or let the caller choose the devices",
    ),
}


@pytest.mark.parametrize(("source", "advice"), ADVICE.values(), ids=ADVICE)
def test_the_advice_is_possible_where_it_is_given(source: str, advice: str) -> None:
    (found,) = check(source, "DEV601")
    assert found.help == advice


def test_what_one_function_names_several_times_is_one_finding() -> None:
    program = """
def train(model, batches):
    for x, y in batches:
        model(x.cuda(0)).backward(y.cuda(0))  # DEV601
"""
    (found,) = check(program, "DEV601")
    assert found.message == "`.cuda(0)` works only where there is CUDA: the device is hard-coded"
    assert [note.message for note in found.trace] == ["the same here"]


@pytest.mark.parametrize(
    ("chosen", "advice"),
    [
        ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', "take the device at hand: `device.type`"),
        ('"cuda" if torch.cuda.is_available() else "cpu"', "take the device at hand: `device`"),
    ],
)
def test_mixed_precision_takes_the_type_of_a_device(chosen: str, advice: str, tmp_path: Path) -> None:
    program = f"""
# file: setting.py
device = {chosen}
# file: steps.py
from setting import device

def ones(n: int):
    with torch.autocast("cuda"):  # DEV601
        return torch.ones(n, device=device)
"""
    (found,) = check(program, "DEV601", tmp_path)
    assert found.help == advice


def test_mixed_precision_where_the_file_chooses_a_device_is_left_to_dev611() -> None:
    program = """
device = "cuda" if torch.cuda.is_available() else "cpu"

def ones(n: int):
    with torch.autocast("cuda"):  # DEV611
        return torch.ones(n, device=device)
"""
    check(program, "DEV6")
