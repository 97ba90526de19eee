"""Findings on a path that only another value of a parameter of a constructor takes, which no call gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import AssumptionKind, Confidence, check_paths

NET = """\
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, size, soft=True):
        super(Attention, self).__init__()
        self.soft = soft
        self.inner = nn.Linear(size, size)

    def forward(self, x: torch.Tensor):
        return self.inner(x) if self.soft else self.inner(x) * torch.ones(4)

class Decoder(nn.Module):
    def __init__(self, *options):
        super(Decoder, self).__init__()
        self.attention = {made}

    def forward(self, x):
        return self.attention(x)
"""
SCRIPT = """\
import torch
from net import Decoder

if __name__ == "__main__":
    print(Decoder().cuda()(torch.ones(4, 4).cuda()))
"""


def suppositions(folder: Path, made: str, script: str) -> list[bool]:
    """Return for each finding in a file of modules whether it supposes an argument that no call of the project gives.

    `made` is the expression that makes the module of which one option leads to a mistake.
    """
    (folder / "net.py").write_text(NET.format(made=made))
    (folder / "main.py").write_text(script)
    (folder / "other.py").write_text("def other():\n    return 1\n")
    found = check_paths([folder], min_confidence=Confidence.POSSIBLE).diagnostics
    kinds = [{each.kind for each in one.assumptions} for one in found if one.code == "DEV105"]
    return [AssumptionKind.CALLED in one for one in kinds]


@pytest.mark.parametrize(
    ("made", "supposed"),
    [
        ("[Attention][0](4, *options)", [False]),
        ("Attention(4, *options)", [False]),
        ("Attention(4, soft=False)", [False]),
    ],
    ids=["used otherwise", "passed on", "passed"],
)
def test_an_option_that_a_call_may_pass(tmp_path: Path, made: str, supposed: list[bool]) -> None:
    assert suppositions(tmp_path, made, SCRIPT) == supposed


@pytest.mark.parametrize(
    "script", [SCRIPT, "if __name__ == '__main__':\n    print(1)\n"], ids=["imported", "left over"]
)
def test_an_option_that_no_call_passes(tmp_path: Path, script: str) -> None:
    assert False not in suppositions(tmp_path, "Attention(4) if len(options) else Attention(8)", script)


SHIFT = """\
import torch
from torch import nn

class Base(nn.Module):
    def {name}(self, x, masked=False):
        x = torch.cat([torch.zeros(1, device=x.device), x])
        return x * torch.ones(4) if masked else x

class Net(Base):
    def forward(self, x: torch.Tensor):
        return self.{name}(x{given})
"""


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("_shift", "", Confidence.POSSIBLE),
        ("_shift", ", masked=True", Confidence.LIKELY),
        ("shift", "", Confidence.LIKELY),
    ],
    ids=["never given to a private method", "given", "a public method"],
)
def test_an_option_of_a_method_of_a_package(tmp_path: Path, name: str, given: str, expected: Confidence) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .net import Net\n")
    (folder / "net.py").write_text(SHIFT.format(name=name, given=given))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found if one.code == "DEV105"} == {expected}
