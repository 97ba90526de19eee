"""Devices that cannot exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import check

BAD = {
    "a type that no package of its name registers": """
try:
    import torch_other
    device = "qaic:0"
except ImportError:
    device = "cpu"

model = nn.Linear(3, 3).to(torch.device(device))  # DEV112
""",
    "a text that the constructor hands to torch before the methods do": """
class Evaluation:
    def __init__(self, gpu=None):
        self.gpu = gpu
        self.model = nn.Linear(3, 3)
        if gpu is not None:
            self.model = self.model.to(gpu)  # DEV112

    def run(self, x):
        if self.gpu is not None:
            x = x.to(self.gpu)
        return self.model(x.to(self.gpu))

def main(use_gpu):
    if use_gpu:
        evaluation = Evaluation(0)
    else:
        evaluation = Evaluation("None")
    return evaluation.run(torch.ones(3))

main(bool(input()))
""",
    "a text that the constructor only keeps": """
class Evaluation:
    def __init__(self, gpu=None):
        self.gpu = gpu

    def run(self, x):
        if self.gpu is not None:
            x = x.to(self.gpu)  # DEV112
        return x.to(self.gpu)

def main(use_gpu):
    return Evaluation(0 if use_gpu else "None").run(torch.ones(3))

main(bool(input()))
""",
    "the index of a host tensor": """
def beside(x):
    return torch.zeros(3, device=f"cuda:{x.get_device()}")  # DEV112
beside(torch.ones(3))
""",
    "a guard that lets the host tensor through": """
def beside(x):
    if x.get_device() != -1:
        return torch.device("cpu")
    return torch.device(f"cuda:{x.get_device()}")  # DEV112
beside(torch.ones(3).to("cuda" if torch.cuda.is_available() else "cpu"))
""",
    "a word beside the one that was excluded": """
import argparse

def resolve(device):
    if device is None or device.strip().lower() == "gpu":
        return torch.device("cuda")
    return torch.device(device)  # DEV112

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="auto")
print(resolve(parser.parse_args().device))
""",
    "in a `try` that passes the error on": """
def parse(text):
    try:
        return torch.device(text)  # DEV112
    except RuntimeError:
        print("no device")
        raise
print(parse("auto"))
""",
    "gpu": """
x = torch.ones(3, device="gpu")  # DEV112
""",
    "torch.device": """
device = torch.device("cuda0")  # DEV112
device = torch.device("CUDA")  # DEV112
device = torch.device("cuda:-1")  # DEV112
device = torch.device("cuda:")  # DEV112
""",
    "to": """
x = torch.ones(3).to("gpu:0")  # DEV112
model = nn.Linear(8, 2).to(device="nvidia")  # DEV112
""",
    "cuda of the host": """
x = torch.ones(3).cuda("cpu")  # DEV112
""",
    "a negative index": """
x = torch.ones(3).cuda(-1)  # DEV112
y = torch.ones(3, device=-1)  # DEV112
""",
    "doubled prefix": """
def run(gpu):
    name = f"cuda:{gpu}"
    return torch.device(f"cuda:{name}")  # DEV112

run("0")
""",
    "chosen": """
device = "gpu" if torch.cuda.is_available() else "cpu"
x = torch.ones(3, device=device)  # DEV112
""",
    "a class attribute": """
class Config:
    device = "gpu"

x = torch.ones(3).to(Config.device)  # DEV112
""",
    "a default argument": """
def load(device="cuda0"):
    return torch.zeros(3, device=device)  # DEV112

load()
""",
    "misspelt for what nothing is known of": """
def place(model, batch, other, last):
    model.to("gpu")  # DEV112
    batch.to("CUDA")  # DEV112
    other.to("cude")  # DEV112
    return last.to("cuda:-1")  # DEV112
""",
}

GOOD = {
    "a type that a package registers": """
try:
    import torch_qaic
    device = "qaic:0"
except ImportError:
    device = "cpu"

model = nn.Linear(3, 3).to(torch.device(device))
""",
    "a text for an object of another library": """
def show(angle, x):
    return np.cos(angle.to("radians")), x.to("int")
""",
    "the index of a tensor that is asked whether it is on the host": """
def in_branch(x):
    if x.get_device() == -1:
        return torch.device("cpu")
    return torch.device(f"cuda:{x.get_device()}")

def in_expression(x):
    return torch.device("cpu") if x.get_device() < 0 else torch.device(f"cuda:{x.get_device()}")

def by_name(x):
    index = x.get_device()
    return torch.device(f"cuda:{index}" if index >= 0 else "cpu")

def turned_round(x):
    return torch.device(f"cuda:{x.get_device()}" if x.get_device() != -1 else "cpu")

def of_several(tensors, flag):
    x = torch.ones(3)
    for one in tensors:
        if one:
            x = torch.ones(3).cuda()
        elif flag:
            x = one
    return in_branch(x), turned_round(x)

def of_either(depth, given):
    device = in_branch(depth)
    if given is None:
        rays = torch.ones(3).to(device)
    else:
        rays = torch.ones(3).to(given.device)
    return in_branch(rays), in_expression(rays)

for ask in (in_branch, in_expression, by_name, turned_round):
    ask(torch.ones(3))
    ask(torch.ones(3, device="cuda"))
    ask(torch.ones(3).to("cuda" if torch.cuda.is_available() else "cpu"))
""",
    "a text that the program lets torch judge": """
def parse(text):
    try:
        return torch.device(text)
    except (RuntimeError, ValueError):
        return None
print(parse("auto"))
""",
    "a word that its other spelling excludes": """
import argparse

def resolve(device):
    if device is None or device.strip().lower() == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="auto")
print(resolve(parser.parse_args().device))
""",
    "a file mode, which no file without tensors asks for": """
words, numbers = torch.load("vocabulary.pt", "rb")
""",
    "no current device": """
def work(rank):
    torch.cuda.set_device(rank)
    with torch.cuda.device(rank):
        return torch.ones(3)

work(0 if torch.cuda.is_available() else -1)
""",
    "every type": """
for x in (torch.device("cpu"), torch.device("cuda"), torch.device("cuda:3"), torch.device("mps"), torch.device("meta")):
    print(torch.ones(3).to(x))
torch.ones(3).to("xpu:1"), torch.ones(3).cuda(0), torch.ones(3, device=1)
torch.device("cuda", 1), torch.device("cpu:0")
torch.ones(3).cuda("cuda:1"), torch.ones(3).cuda(torch.device("cuda")), torch.ones(3).to("hpu")
""",
    "a number in the string": """
import os

device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}")
rank = int(os.environ["RANK"])
x = torch.ones(3).to(f"cuda:{rank}")
y = torch.ones(3).to("cuda:" + str(rank))
""",
    "a backend of its own name": """
torch.utils.rename_privateuse1_backend("npu")
x = torch.ones(3, device="npu")
""",
    "an imported backend": """
import torch_npu

x = torch.ones(3, device="npu:0")
""",
    "not a device": """
def open_camera(name, device="gpu"):
    return name, device

x = open_camera("a").to("gpu")
config = {"device": "gpu"}
if config["device"] == "gpu":
    config["device"] = "cuda"
y = torch.ones(3, device=config["device"])
""",
    "minus one means the host": """
def place(x: torch.Tensor, gpu=-1):
    return x.cuda(gpu) if gpu >= 0 else x

place(torch.ones(3))
""",
}


@pytest.mark.parametrize("program", BAD.values(), ids=BAD)
def test_reported(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize("program", GOOD.values(), ids=GOOD)
def test_silent(program: str, tmp_path: Path) -> None:
    check(program, "DEV1", tmp_path)


@pytest.mark.parametrize(
    ("written", "help"),
    [
        ("gpu", 'write `"cuda"`'),
        ("cuda0", 'write `"cuda:0"`'),
        ("gpu:1", 'write `"cuda:1"`'),
        ("cuda:cuda:0", "`cuda:` stands there twice: the inner string holds it already"),
        ("tensor", None),
    ],
)
def test_the_help_says_what_was_meant(written: str, help: str | None) -> None:
    (finding,) = check(f'x = torch.device("{written}")  # DEV112', "DEV1")
    assert finding.help == help
    assert f"'{written}'" in finding.message


def test_a_transfer_to_an_accelerator_cannot_take_the_host() -> None:
    (finding,) = check("torch.ones(3).cuda('cpu')  # DEV112", "DEV112")
    assert finding.message == "`.cuda()` takes an accelerator, not 'cpu'"
    assert finding.help == "call `.cpu()`, or leave the transfer out"


def test_one_wrong_value_is_one_mistake_wherever_a_file_uses_it() -> None:
    (finding,) = check(
        """
class Evaluation:
    def __init__(self, index: str):
        self.index = index

    def load(self):
        return torch.load("weights", map_location=f"cuda:{self.index}")  # DEV112

    def predict(self, x: torch.Tensor):
        return x.to(self.index)

def run(evaluation, x: torch.Tensor, load: bool):
    return evaluation.load() if load else evaluation.predict(x)

print(run(Evaluation("None"), torch.ones(3), len(open("options").read()) > 3))
""",
        "DEV112",
    )
    (again,) = finding.trace
    assert again.message == "fails here too"
    assert again.region.start.row == 14


def test_two_devices_that_are_written_wrong_are_two_mistakes() -> None:
    assert len(check('x = torch.ones(3, device="gpu")  # DEV112\ny = x.to("gpu")  # DEV112', "DEV112")) == 2
