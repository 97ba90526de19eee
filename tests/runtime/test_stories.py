"""Tests of the stories of errors that a run has seen: what they call an operand, and which source they mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from devlint.runtime import emulate, record

Story = list[tuple[str, str]]
"""The steps of a story: the operand with which each begins, and what it says."""


def story(fails: Callable[[], object]) -> Story:
    """Return the story of the error about devices that a call raises on an emulated device."""
    with emulate(), record() as report, pytest.raises(RuntimeError):
        fails()
    (error,) = report.recorder.observations.values()
    return [(step.operand, step.message) for step in error[0].steps]


def operands(fails: Callable[[], object]) -> list[str]:
    return [operand for operand, _ in story(fails) if operand]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3))
        self.table = torch.ones(3)

    def forward(self, how: str) -> Any:
        x = torch.ones(3, device="cuda")
        batch = {"x": x[None], "y": [torch.ones(1, 3)]}
        kernel = self.table.expand(3)
        if how == "variable":
            return x + kernel
        if how == "attribute":
            return x + self.table
        if how == "element":
            return batch["x"] + batch["y"][0].sum(0)
        if how == "layer":
            return self.layers(batch["x"])
        return self.layers(torch.ones(1, 3, device="cuda"))


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ("variable", ["`x`", "`kernel`"]),
        ("attribute", ["`x`", "`self.table`"]),
        ("element", ['`batch["x"]`']),
        ("layer", ["`self.layers[0].bias`", '`batch["x"]`']),
        ("unnamed", ["`self.layers[0].bias`", "`input` of `Linear`"]),
    ],
)
def test_a_story_calls_an_operand_as_the_code_does(how: str, names: list[str]) -> None:
    assert operands(lambda: Net()(how)) == names


def test_what_the_code_has_no_one_name_for_is_not_named() -> None:
    def fails() -> torch.Tensor:
        rows = torch.ones(2, 3)
        first, second = rows[0], rows[1]
        return torch.ones(3, device="cuda") + (first if second is None else rows[-1])

    assert operands(fails) == []


def test_the_name_stands_once_in_the_story_and_the_report() -> None:
    with emulate(), record() as report, pytest.raises(RuntimeError):
        x = torch.ones(3).to("cuda")
        torch.ones(3) * x
    (error,) = [one.diagnostic for one in report.outcomes if one.fatal]
    assert [note.message for note in error.trace] == [
        "created on the host by torch.ones(), which names no device",
        "`x`: created on the host by torch.ones(), which names no device",
        "moved from cpu to cuda:0 by .to()",
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (np.ones(3), "created on cuda:0 by torch.as_tensor() from a NumPy array"),
        ([1.0, 1.0, 1.0], "created on cuda:0 by torch.as_tensor()"),
    ],
)
def test_what_a_tensor_is_made_from_follows_the_call(data: Any, text: str) -> None:
    assert text in [said for _, said in story(lambda: torch.as_tensor(data, device="cuda") + torch.ones(3))]


def test_only_what_a_loop_runs_over_is_marked() -> None:
    with emulate(), record() as report, pytest.raises(RuntimeError):
        for batch in DataLoader(torch.ones(4, 3), batch_size=2, pin_memory=True):  # type: ignore[arg-type]
            far = torch.ones(3).to("cuda")
            batch + far
    (error,) = [one.diagnostic for one in report.outcomes if one.fatal]
    (pinned,) = [note.region for note in error.trace if note.message.endswith("copied to pinned memory")]
    assert pinned.start.row == pinned.end.row
    assert error.region.start.row == error.region.end.row == pinned.start.row + 2
