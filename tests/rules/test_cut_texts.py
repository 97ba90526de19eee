"""Long expressions in messages, which are cut between words."""

from __future__ import annotations

import pytest

from devlint import check_source
from devlint.explain.cut_texts import cut_at_end, cut_code, cut_in_middle


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


@pytest.mark.parametrize(
    ("code", "cut"),
    [
        ("compute_scores(attention_mask, position_bias)", "compute_scores(..., position_bias)"),
        ("self.encoder.layers.first.weight.transpose(0, 1)", "self.encoder...weight.transpose(0, 1)"),
        ("torch.tensor(self.sentences[index]).to(self.device)", "torch.tensor(...).to(self.device)"),
        ("torch.tensor(self.signal[index * 4 : index * 4 + 4], device=device)", "torch.tensor(...)"),
        ('torch.zeros(10, device="cuda").index_add(0, row, hits)', "torch.zeros(...).index_add(0, row, hits)"),
        ('torch.zeros(10, device="cuda").index_add(0, labels, hits)', "torch.zeros(...).index_add(...)"),
        ('loss.detach().to("cpu", non_blocking=True)', "loss.detach().to(...)"),
        ('torch.rand(1000, device="cuda").max().cpu()', "torch.rand(...).max().cpu()"),
        ('{"a)": one, "the second key": two}["the second key"]()', '{...}["the second key"]()'),
        ("f(x)[start_of_the_batch + 1 : -start_of_the_batch - 1]", "f(x)[...]"),
        ("boxes.reshape(boxes.size(0), -1, len(sizes), 4)", "boxes.reshape(...)"),
        ("y" * 50, "y" * 50),
    ],
)
def test_what_is_left_of_an_expression_has_both_of_its_brackets_and_quotes(code: str, cut: str) -> None:
    assert cut_code(code, 40) == cut


def test_a_message_breaks_no_word() -> None:
    source = """
import torch

measurements = torch.ones(3, device="cuda")
measurements + torch.ones_like(torch.arange(3).reshape_as(torch.zeros(3)))
"""
    (finding,) = check_source(source).diagnostics
    assert finding.message.startswith("`torch.ones_like(...)` is on cpu but `measurements` is on cuda")


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
