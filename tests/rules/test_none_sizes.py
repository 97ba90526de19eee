"""A size that no call of an application passes, and that is None by default: what follows never runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import lint

LOSSES = """
import torch

def smoothed(target: torch.Tensor, smoothing=0.0, class_count=None):
    if smoothing > 0.0:
        made = torch.zeros([3, class_count])
        return made, torch.zeros(3) + torch.zeros(3, device="cuda")
"""
PROGRAM = """
# file: main.py
import sys

import torch
from losses import smoothed

if __name__ == "__main__":
    print(smoothed(torch.zeros(3), float(sys.argv[1]){given}))

# file: losses.py
{losses}
"""


@pytest.mark.parametrize(("given", "clauses"), [("", {"somebody passes `class_count`"}), (", class_count=4", set())])
def test_a_size_that_is_left_out(given: str, clauses: set[str], tmp_path: Path) -> None:
    (finding,) = lint(PROGRAM.format(given=given, losses=LOSSES), frozenset({"DEV101"}), tmp_path)
    assert clauses == {one.message for one in finding.assumptions if "pass" in one.message}
