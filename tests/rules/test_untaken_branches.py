"""Findings in branches that no run of a program takes, by the constants that its calls pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import Confidence, check_paths

SCRIPT = """\
from helpers import {names}

if __name__ == "__main__":
    {code}
"""
TRAIN = """\
import torch

def train(model, mixed{default}):
    scaler = None
    for batch in model.batches():
        if {test}:
            with torch.cuda.amp.autocast():
                model(batch)
        else:
            model(batch)
"""


def confidences(folder: Path, helpers: str, code: str, names: str = "train") -> list[Confidence]:
    """Return the confidences of what is found in the helpers of a program whose script runs some code."""
    (folder / "helpers.py").write_text(helpers)
    (folder / "main.py").write_text(SCRIPT.format(names=names, code=code))
    found = check_paths([folder], select=["DEV105", "DEV605"], min_confidence=Confidence.POSSIBLE).diagnostics
    return [one.confidence for one in found if one.region.filename.endswith("helpers.py")]


@pytest.mark.parametrize(
    ("test", "default", "code", "expected"),
    [
        ("mixed", "", "train(print, False)", Confidence.POSSIBLE),
        ("mixed", "", "train(print, mixed=False)", Confidence.POSSIBLE),
        ("mixed", "=False", "train(print)", Confidence.POSSIBLE),
        ("mixed and model", "=False", "train(print)", Confidence.POSSIBLE),
        ("not mixed", "=True", "train(print)", Confidence.POSSIBLE),
        ("mixed == 'half'", "=None", "train(print)", Confidence.POSSIBLE),
        ("mixed != 'half'", "=None", "train(print, 'half')", Confidence.POSSIBLE),
        ("mixed is not None", "=None", "train(print)", Confidence.POSSIBLE),
        ("mixed is not None", "=None", "train(print, 1)", Confidence.CERTAIN),
        ("mixed > 0", "=-1", "train(print)", Confidence.POSSIBLE),
        ("mixed or model", "=False", "train(print)", Confidence.CERTAIN),
        ("mixed", "=False", "train(print), train(print, True)", Confidence.CERTAIN),
        ("mixed", "=False", "train(print, bool(print))", Confidence.CERTAIN),
        ("mixed", "=False", "train(*print)", Confidence.CERTAIN),
        ("mixed", "=False", "train(print, **print)", Confidence.CERTAIN),
        ("mixed", "=False", "print(train)", Confidence.CERTAIN),
        ("mixed", "=None, *rest, other=1", "train(print, False, True)", Confidence.POSSIBLE),
        ("other", "=None, *rest, other=1", "train(print, False, False)", Confidence.CERTAIN),
        ("other", "=None, *rest, other=0", "train(print, True, True)", Confidence.POSSIBLE),
    ],
)
def test_parameter_that_all_calls_give_one_constant(
    tmp_path: Path, test: str, default: str, code: str, expected: Confidence
) -> None:
    assert confidences(tmp_path, TRAIN.format(test=test, default=default), code) == [expected]


def test_parameter_that_is_given_another_value(tmp_path: Path) -> None:
    helpers = TRAIN.format(test="mixed", default="=False").replace("scaler = None", "mixed = model.mixed")
    assert confidences(tmp_path, helpers, "train(print)") == [Confidence.CERTAIN]


@pytest.mark.parametrize(
    ("leaving", "expected"),
    [
        ("if not mixed:\n        return", Confidence.POSSIBLE),
        ("if not mixed:\n        print(1)", Confidence.CERTAIN),
    ],
    ids=["left before", "not left"],
)
def test_code_after_a_branch_that_leaves(tmp_path: Path, leaving: str, expected: Confidence) -> None:
    helpers = TRAIN.format(test="model", default="").replace("scaler = None", leaving)
    assert confidences(tmp_path, helpers, "train(print, False)") == [expected]


@pytest.mark.parametrize(
    ("default", "code", "expected"),
    [("", "train(print, False)", Confidence.POSSIBLE), ("=False", "train(print)", Confidence.CERTAIN)],
    ids=["passed", "left out"],
)
def test_parameter_that_settings_name(tmp_path: Path, default: str, code: str, expected: Confidence) -> None:
    (tmp_path / "run.yaml").write_text("mixed: true\n")
    assert confidences(tmp_path, TRAIN.format(test="mixed", default=default), code) == [expected]


def test_function_that_a_decorator_registers(tmp_path: Path) -> None:
    helpers = TRAIN.format(test="mixed", default="=False").replace("def train", "@torch.no_grad()\ndef train")
    assert confidences(tmp_path, helpers, "train(print)") == [Confidence.CERTAIN]


def test_function_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (package / "__init__.py").write_text("from .helpers import train\n")
    (package / "helpers.py").write_text(TRAIN.format(test="mixed", default="=False"))
    (tmp_path / "main.py").write_text("from package import train\n\nif __name__ == '__main__':\n    train(print)\n")
    (found,) = check_paths([tmp_path], select=["DEV605"]).diagnostics
    assert found.confidence is Confidence.CERTAIN


NET = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size, rank=-1):
        super().__init__()
        self.rank = rank
        self.inner = nn.Linear(size, size)

    def forward(self, x):
        if self.rank == -1:
            return self.inner(x)
        return self.outside(x)

    def outside(self, x):
        if self.rank == -1:
            return x
        else:
            torch.cuda.set_device(x)
"""


@pytest.mark.parametrize(
    ("change", "code", "expected"),
    [
        (("+", "+"), "Net(3)", Confidence.POSSIBLE),
        (("+", "+"), "Net(3, 0)", Confidence.CERTAIN),
        (("+", "+"), "Net(3).rank = 0", Confidence.CERTAIN),
        (("return self.outside", "self.rank = 0\n        return self.outside"), "Net(3)", Confidence.CERTAIN),
        (("self.rank = rank", "self.rank = rank + 1"), "Net(3)", Confidence.CERTAIN),
        (("rank=-1", "rank=-1):\n        super().__init__()\n    def place(self"), "Net(3)", Confidence.CERTAIN),
        (("+", "+"), "type('Other', (Net,), {})", Confidence.CERTAIN),
    ],
    ids=["default", "passed", "set from outside", "set again", "computed", "another method's", "subclass"],
)
def test_attribute_that_the_constructor_makes(
    tmp_path: Path, change: tuple[str, str], code: str, expected: Confidence
) -> None:
    assert confidences(tmp_path, NET.replace(*change), code, "Net") == [expected]


def test_attribute_of_another_name_than_its_parameter(tmp_path: Path) -> None:
    text = NET.replace("self.rank", "self.place")
    assert confidences(tmp_path, text, "Net(3)", "Net") == [Confidence.POSSIBLE]
    assert confidences(tmp_path, text, "Net(3).place = 1", "Net") == [Confidence.CERTAIN]
