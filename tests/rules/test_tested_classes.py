"""Findings in the classes of a file of tests: its tests may move them to an accelerator, or keep them on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import AssumptionKind, Confidence, check_paths

TESTS = """\
import pytest
import torch
from torch import nn
{said}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self):
        return self.net(torch.rand(1, 4))

@pytest.fixture
def model():
    return Net()

def test_forward(model):
    assert {done}

def test_other():
    assert nn.Linear(4, 4).to("cuda")
"""


def no_call(folder: Path, said: str = "", done: str = "model() is not None", name: str = "test_net") -> list[bool]:
    """Return for each finding in a file of tests whether it supposes a call that there is not."""
    (folder / f"{name}.py").write_text(TESTS.format(said=said, done=done))
    found = check_paths([folder], min_confidence=Confidence.POSSIBLE).diagnostics
    return [AssumptionKind.CALLED in {each.kind for each in one.assumptions} for one in found if one.code == "DEV105"]


def test_a_class_that_tests_only_call_stays_on_the_host(tmp_path: Path) -> None:
    assert no_call(tmp_path) == [True]


@pytest.mark.parametrize(
    ("said", "done"),
    [
        ("", "model.to(read())() is not None"),
        ("", "Trainer(model).fit()"),
        ("from helpers import run", "run(model)"),
    ],
    ids=["moved through a fixture", "a trainer", "a helper"],
)
def test_a_class_that_tests_move(tmp_path: Path, said: str, done: str) -> None:
    (tmp_path / "helpers.py").write_text("def run(model):\n    return model.cuda()()\n")
    assert no_call(tmp_path, said, done) == [False]


def test_other_files_may_move_a_class(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("from test_net import Net\n\nNet().cuda()()\n")
    assert no_call(tmp_path) == [False]


def test_a_file_without_tests(tmp_path: Path) -> None:
    assert no_call(tmp_path, name="net") == [False]
