"""Findings that suppose a caller's tensor on an accelerator where every call of the project passes one on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import AssumptionKind, Confidence, Diagnostic, check_paths

MODEL = """\
import torch
from torch import nn

class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, ids):
        matrix = torch.full(ids.shape, 0.15)
        return self.net(self.mask_out(ids, matrix))

    def mask_out(self, ids, matrix, masked=None):
        if masked is None:
            masked = torch.bernoulli(matrix).bool()
        masked = torch.bernoulli(torch.full((3, 4), 0.8)).bool() & masked
        ids[masked] = 1
        return ids
"""
SCRIPT = """\
import torch
from model import Masked

if __name__ == "__main__":
    model = Masked().cuda()
    model(torch.ones(3, 4).cuda())
"""


def passed(one: Diagnostic) -> bool:
    """Return whether a finding supposes that somebody passes what no call of the project passes."""
    return AssumptionKind.CALLED in {each.kind for each in one.assumptions}


def doubted(folder: Path, **files: str) -> list[bool]:
    """Return for each finding in the method `mask_out` of a project whether it supposes a call that there is not."""
    for name, text in {"model": MODEL, "main": SCRIPT, **files}.items():
        (folder / f"{name}.py").write_text(text)
    found = check_paths([folder], min_confidence=Confidence.POSSIBLE).diagnostics
    return [passed(one) for one in found if one.region.filename.endswith("model.py")]


def test_the_only_call_passes_a_host_tensor(tmp_path: Path) -> None:
    assert doubted(tmp_path) == [True]


def test_a_caller_hands_on_what_its_own_callers_pass(tmp_path: Path) -> None:
    model = MODEL + "\n    def again(self, ids, given):\n        return self.mask_out(ids, given)\n"
    script = SCRIPT + "    model.again(torch.ones(3, 4).cuda(), torch.zeros(3, 4))\n"
    assert doubted(tmp_path, model=model, main=script) == [True]
    assert doubted(tmp_path, model=model, main=SCRIPT + "    again = model.again\n") == [False]


SOLVER = """\
import torch
from data import read

def solve(signal):
    return torch.cat((torch.zeros(1, signal.shape[1]), signal), dim=0) @ torch.eye(3, device=signal.device)

if __name__ == "__main__":
    print(solve(read()))
"""


@pytest.mark.parametrize(
    ("said", "no_call"),
    [
        ("", True),
        ("import argparse\nargparse.ArgumentParser().add_argument('--device')\n", False),
        ("def other(x):\n    return x.to('cuda')\n", False),
        ("from training import run\nrun(solve)\n", False),
    ],
    ids=["nothing", "an option", "a device", "handed on"],
)
def test_a_script_that_says_nothing_of_devices_stays_on_the_host(tmp_path: Path, said: str, no_call: bool) -> None:
    (tmp_path / "data.py").write_text("from somewhere import read\n")
    (tmp_path / "training.py").write_text("def run(step):\n    step(read().cuda())\n")
    (tmp_path / "solve.py").write_text(SOLVER.replace("if __name__", f"{said}\nif __name__"))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [passed(one) for one in found if one.code == "DEV105"] == [no_call]


NET = """\
import torch
from data import read
from torch import nn
{said}

class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        return self.net(x) * torch.ones(4)

net = Masked()
{done}
"""


@pytest.mark.parametrize(
    ("said", "done", "no_move"),
    [
        ("", "print(net(read()))", True),
        ("torch.cuda.manual_seed_all(0)", "print(nn.CrossEntropyLoss().cuda()(net(read()), read()))", True),
        ("", "print(net.to(read())(read()))", False),
        ("", "print(net.cuda()(read()))", False),
        ("from training import run", "run(net)", False),
        ("from somewhere import Trainer", "Trainer(net).train()", False),
    ],
    ids=["nothing", "a seed and a loss", "a device", "an accelerator", "another file", "a library"],
)
def test_a_model_in_a_script_that_moves_nothing_stays_on_the_host(
    tmp_path: Path, said: str, done: str, no_move: bool
) -> None:
    (tmp_path / "data.py").write_text("from somewhere import read\n")
    (tmp_path / "training.py").write_text("def run(net):\n    return net.to('cuda')\n")
    (tmp_path / "main.py").write_text("from training import run\n\nif __name__ == '__main__':\n    print(run)\n")
    (tmp_path / "net.py").write_text(NET.format(said=said, done=done))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [passed(one) for one in found if one.code == "DEV105"] == [no_move]
    (tmp_path / "__init__.py").write_text("")
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [passed(one) for one in found if one.code == "DEV105"] == [False]
    (tmp_path / "__init__.py").unlink()
    (tmp_path / "other.py").write_text("from net import Masked\n\nMasked()\n")
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [passed(one) for one in found if one.code == "DEV105"] == [False]


ENGINE = """\
import torch

def widen(batch):
    return torch.cat((torch.zeros(1, batch.shape[1]), batch)) @ torch.eye(3, device=batch.device)

def train(loader, device):
    for batch in loader:
        print(widen(batch).to(device))
"""
LOADER = """\
from torch.utils.data import DataLoader
from engine import train
from somewhere import Data

if __name__ == "__main__":
    train(DataLoader(Data(), batch_size=4), "cuda")
"""


@pytest.mark.parametrize(
    ("script", "no_call"),
    [(LOADER, True), (LOADER.replace("DataLoader(Data(), batch_size=4)", "Data()"), False)],
    ids=["a loader", "anything"],
)
def test_every_call_passes_a_loader(tmp_path: Path, script: str, no_call: bool) -> None:
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "main.py").write_text(script)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "engine.py").write_text("def widen(batch):\n    return batch\n")
    (tmp_path / "other" / "main.py").write_text("from engine import widen\n\nprint(widen(1))\n")
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [passed(one) for one in found if one.code == "DEV105"] == [no_call]


def test_another_class_with_a_method_of_that_name_calls_its_own(tmp_path: Path) -> None:
    other = MODEL.partition("class Masked")[2].replace("ids, matrix))", "ids, ids))")
    assert doubted(tmp_path, model=f"{MODEL}\nclass Other{other}")[0] is True


def test_names_that_other_classes_compute_are_their_own(tmp_path: Path) -> None:
    names = (
        "class Names:\n    def __str__(self):\n        return '{a}'.format(**self.__dict__) + getattr(self, self.a)\n"
    )
    assert doubted(tmp_path, names=f"import model\n{names}") == [True]
    assert doubted(tmp_path, model=f"{MODEL}\n{names}") == [False]


@pytest.mark.parametrize(
    "files",
    [
        {"main": SCRIPT + "    model.mask_out(torch.ones(3, 4), torch.load('m').to('cuda'))\n"},
        {"main": SCRIPT + "    model.mask_out(torch.ones(3, 4), read())\n"},
        {"main": SCRIPT + "    run(model.mask_out)\n"},
        {"main": SCRIPT + "    getattr(model, 'mask_out')(torch.ones(3, 4), read())\n"},
        {"main": SCRIPT.partition("if __name__")[0]},
        {"notes": "", "main": SCRIPT + "    import sys\n    getattr(model, sys.argv[1])()\n"},
    ],
    ids=["accelerator", "unknown", "handed on", "fetched by its name", "no script", "computed name"],
)
def test_may_be_on_an_accelerator(tmp_path: Path, files: dict[str, str]) -> None:
    assert True not in doubted(tmp_path, **files)


def test_an_installed_package_has_other_callers(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("")
    script = SCRIPT.replace("from model", "from package.model")
    (tmp_path / "main.py").write_text(script)
    (package / "model.py").write_text(MODEL)
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert [passed(one) for one in found if one.region.filename.endswith("model.py")] == [False]
    (package / "model.py").write_text(MODEL.replace("mask_out", "_mask_out"))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert False not in [passed(one) for one in found if one.region.filename.endswith("model.py")]
