"""Checkpoints that are loaded to where they were saved, and tensor types of old."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import check_paths

from .programs import check

BAD = {
    "a checkpoint": """
def restore(model: nn.Module, path):
    model.load_state_dict(torch.load(path))  # DEV602
    return torch.load(path, weights_only=True)["state"]  # DEV602
""",
    "no device is none": """
state = torch.load("model.pt", map_location=None)  # DEV602
""",
    "twins": """
script = torch.jit.load("model.pt")  # DEV602
weights = torch.hub.load_state_dict_from_url("https://example.org/model.pt", progress=False)  # DEV602

def restore():
    from torch.hub import load_state_dict_from_url
    return torch.zeros(1), load_state_dict_from_url("https://example.org/model.pt")  # DEV602
""",
    "types of CUDA": """
def make(n, x: torch.Tensor):
    a = torch.cuda.FloatTensor(n, 3)  # DEV603
    b = x.type("torch.cuda.LongTensor")  # DEV603
    c = x.type(torch.cuda.HalfTensor)  # DEV603
    return a, b, c
""",
    "a type that was chosen": """
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor  # DEV603
""",
    "the default type": """
if torch.cuda.is_available():
    torch.set_default_tensor_type("torch.cuda.FloatTensor")  # DEV603
""",
    "the type of another tensor": """
def like(x: torch.Tensor, y: torch.Tensor):
    return x.type(y.type())  # DEV603
""",
    "variables": """
from torch.autograd import Variable

def wrap(x: torch.Tensor):
    return Variable(x), torch.autograd.Variable(x, requires_grad=True)  # DEV603
""",
}

GOOD = {
    "said where": """
def restore(path, device):
    a = torch.load(path, map_location="cpu")
    b = torch.load(path, device)
    c = torch.load(path, map_location=lambda storage, place: storage)
    d = torch.jit.load(path, map_location=device)
    return a, b, c, d, torch.hub.load_state_dict_from_url(path, map_location="cpu")
""",
    "said by the caller": """
def restore(path, *args, **kwargs):
    return torch.load(path, **kwargs), torch.load(path, *args)
""",
    "each machine its own": """
def restore(path):
    if torch.cuda.is_available():
        return torch.load(path)
    return torch.load(path, map_location="cpu")
""",
    "not read at once, or to nowhere": """
def restore(path):
    state = torch.load(path, mmap=True)
    with torch.device("meta"):
        return torch.load(path), state
""",
    "other loads": """
import json
import pickle

def restore(path, torch_like):
    return json.load(path), pickle.load(path), np.load(path), torch_like.load(path), torch.zeros(1)
""",
    "the type of a tensor on the host": """
def like(x: torch.Tensor):
    y = torch.zeros(3, dtype=torch.float64)
    return x.type(y.type()), x.type(y.dtype), x.type_as(y), print(x.type())
""",
    "types of the host": """
def make(x: torch.Tensor):
    return torch.FloatTensor(3), x.type(torch.float32), x.type("torch.FloatTensor"), x.type(), torch.Tensor(3)
""",
    "other variables": """
class Variable:
    pass

def make():
    return Variable(), torch.zeros(1)
""",
    "no type of a tensor": """
def ask(x: torch.Tensor):
    torch.set_default_dtype(torch.float64)
    return x.type() == "torch.cuda.FloatTensor", isinstance(x, torch.Tensor)
""",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_reported(source: str) -> None:
    check(source, "DEV602")
    check(source, "DEV603")


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_silent(source: str) -> None:
    check(source, "DEV602")
    check(source, "DEV603")


def test_the_group_leaves_out_what_works_on_every_device(tmp_path: Path) -> None:
    wrapped = (
        "def wrap(x: torch.Tensor):\n    return Variable(x)\n\n\ndef make(n):\n    return torch.cuda.FloatTensor(n)\n"
    )
    source = f"import torch\nfrom torch.autograd import Variable\n\n\n{wrapped}"
    (tmp_path / "a.py").write_text(source)
    for selected, names in (("PORTABILITY", ["FloatTensor"]), ("DEV603", ["Variable", "FloatTensor"])):
        found = check_paths([tmp_path], select=[selected]).diagnostics
        told = [one.message.partition("` ")[0].rpartition(".")[2] for one in found if one.code == "DEV603"]
        assert told == names


@pytest.mark.parametrize(
    ("code", "message", "help_"),
    [
        (
            'torch.set_default_tensor_type("torch.cuda.HalfTensor")',
            "`torch.set_default_tensor_type` is deprecated since torch 2.1",
            'call `torch.set_default_dtype(torch.float16)` and `torch.set_default_device("cuda")`',
        ),
        (
            "torch.set_default_tensor_type(torch.cuda.FloatTensor if use_cuda else torch.FloatTensor)",
            "`torch.set_default_tensor_type` is deprecated since torch 2.1",
            "call `torch.set_default_dtype(...)` and `torch.set_default_device(...)`",
        ),
        (
            "torch.rand(3).type(torch.cuda.HalfTensor)",
            "`torch.cuda.HalfTensor` fixes the device and the dtype: torch.float16 on CUDA only",
            "pass the device and the dtype: `torch.rand(3).to(device, torch.float16)`",
        ),
        (
            'torch.rand(3).type("torch.cuda.HalfTensor")',
            "`torch.cuda.HalfTensor` fixes the device and the dtype: torch.float16 on CUDA only",
            "pass the device and the dtype: `torch.rand(3).to(device, torch.float16)`",
        ),
        (
            "torch.cuda.LongTensor(3)",
            "`torch.cuda.LongTensor` fixes the device and the dtype: torch.int64 on CUDA only",
            "pass the device and the dtype: `torch.tensor(..., dtype=torch.int64, device=device)`",
        ),
    ],
)
def test_the_advice_is_filled_in(code: str, message: str, help_: str) -> None:
    found = next(one for one in check(f"use_cuda = bool(1)\n{code}  # DEV603\n", "DEV603"))
    assert (found.message, found.help) == (message, help_)
