"""Findings in a class that an application builds as a step of a dataset's transforms: it sees host tensors only."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import AssumptionKind, Confidence, check_paths

SHIFT = """\
import torch
from torch import nn

class Shift(nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.shift = torch.tensor(shift).view(-1, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.shift
"""
SCRIPT = """\
from shift import Shift
from torchvision import transforms

def composed(shift):
{steps}

if __name__ == "__main__":
    print(composed([1.0, 2.0]))
"""
INLINE = "    return transforms.Compose([transforms.ToTensor(), Shift(shift)])"
LISTED = "    steps = [transforms.ToTensor()]\n    steps.append(Shift(shift))\n    return transforms.Compose(steps)"


def no_call(folder: Path, steps: str) -> list[bool]:
    """Return for each finding in the transform of a project whether it supposes a call that there is not."""
    (folder / "shift.py").write_text(SHIFT)
    (folder / "main.py").write_text(SCRIPT.format(steps=steps))
    found = check_paths([folder], min_confidence=Confidence.POSSIBLE).diagnostics
    return [
        AssumptionKind.CALLED in {each.kind for each in one.assumptions} for one in found if one.code.startswith("DEV1")
    ]


@pytest.mark.parametrize(
    "steps",
    [INLINE, LISTED, LISTED.replace("[transforms.ToTensor()]", "[Shift(shift), transforms.ToTensor()]")],
    ids=["a list", "a list with a name", "in both ways"],
)
def test_a_step_behind_one_that_takes_images(tmp_path: Path, steps: str) -> None:
    assert no_call(tmp_path, steps) == [True]


@pytest.mark.parametrize(
    "steps",
    [
        INLINE.replace("transforms.ToTensor()", "transforms.CenterCrop(8)"),
        INLINE.replace("ToTensor()", "ToTensor(), transforms.Lambda(lambda x: x.cuda())"),
        INLINE.replace("transforms.Compose", "run"),
        INLINE + ", Shift(shift)",
        LISTED.replace("transforms.Compose(steps)", "transforms.Compose(steps), steps"),
        LISTED.replace("transforms.Compose(steps)", "steps"),
    ],
    ids=["tensors", "moved before", "another call", "also by itself", "also the list", "not composed"],
)
def test_a_step_that_may_see_other_tensors(tmp_path: Path, steps: str) -> None:
    assert no_call(tmp_path, steps) == [False]
