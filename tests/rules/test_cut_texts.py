"""Long expressions in messages, which are cut between words."""

from __future__ import annotations

import pytest

from devlint import check_source
from devlint.explain.cut_texts import cut_at_end, cut_in_middle


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("compute(attention_mask)", "compute(attention_mask)"),
        ("compute_scores(attention_mask, position_bias)", "compute_scores(..., position_bias)"),
        ("self.encoder.layers.first.weight.transpose(0, 1)", "self.encoder...weight.transpose(0, 1)"),
        ("x" * 50, "x" * 37 + "..."),
        ("a_function_with_a_long_name_of_all(x, y, z)", "a_function_with_a_long_name_of_all(x..."),
    ],
)
def test_the_middle_is_cut_between_words(text: str, cut: str) -> None:
    assert cut_in_middle(text, 40) == cut
    assert len(cut) <= 40


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("the module's device", "the module's device"),
        ("the device of the caller's tensor", "the device of the..."),
        ("torch.nn.functional.conv1d", "torch.nn.functional..."),
        ("y" * 40, "y" * 20 + "..."),
    ],
)
def test_the_end_is_cut_between_words(text: str, cut: str) -> None:
    assert cut_at_end(text, 23) == cut
    assert len(cut) <= 23


def test_a_message_breaks_no_word() -> None:
    source = """
import torch

measurements = torch.ones(3, device="cuda")
measurements + torch.ones_like(torch.arange(3).reshape_as(torch.zeros(3)))
"""
    (finding,) = check_source(source).diagnostics
    assert finding.message.startswith("`torch.ones_like(...(torch.zeros(3)))` is on cpu but `measurements` is on cuda")


def test_a_name_is_never_cut() -> None:
    source = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.relative_position_bias_table_of_the_window = torch.zeros(3)

    def forward(self, x):
        return x + self.relative_position_bias_table_of_the_window
"""
    (finding,) = check_source(source).diagnostics
    assert finding.message.startswith("`self.relative_position_bias_table_of_the_window` is a plain tensor")
