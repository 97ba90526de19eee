"""Tests of the verdicts on claims that are wrong: a finding about one program is confirmed on a repaired one."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")

from devlint.api import check_paths
from devlint.confirm.confirmation import ConfirmOptions, confirm_findings
from devlint.confirm.judgement import Judgement, Verdict

from .test_command import POSITIONS


def on_repaired(folder: Path, wrong: str, right: str) -> Judgement:
    """Return the judgement on the finding of the wrong program, when the right one stands in its file."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(wrong), encoding="utf-8")
    [finding] = check_paths([path], isolated=True).diagnostics
    path.write_text(textwrap.dedent(right), encoding="utf-8")
    [judged] = confirm_findings([finding], ConfirmOptions())
    return judged


def test_a_claim_that_is_not_so_is_refuted(tmp_path: Path) -> None:
    right = POSITIONS.replace(
        "self.table = torch.zeros(512, size)", 'self.register_buffer("table", torch.zeros(512, size))'
    )
    judged = on_repaired(tmp_path, POSITIONS, right)
    assert judged.verdict is Verdict.REFUTED
    assert "all of its story ran on the accelerator" in judged.reason
    assert "made(x=" in judged.driver


def test_operands_that_torch_takes_refute(tmp_path: Path) -> None:
    right = POSITIONS.replace("self.table = torch.zeros(512, size)", "self.table = torch.tensor(2.0)")
    judged = on_repaired(tmp_path, POSITIONS, right.replace("self.table[: x.size(1)]", "self.table.mul(1.00000)"))
    assert judged.verdict is Verdict.REFUTED
    assert judged.reason == "this took operands on different devices without an error"


def test_a_path_that_is_not_taken_refutes_nothing(tmp_path: Path) -> None:
    right = POSITIONS.replace("return x +", "return x if len(x) < 10**6 else x +")
    judged = on_repaired(tmp_path, POSITIONS, right)
    assert judged.verdict is Verdict.NOT_REACHED


def test_an_error_of_shapes_alone_confirms_nothing(tmp_path: Path) -> None:
    right = POSITIONS.replace("x + self.table[: x.size(1)]", "x.new_ones(3) + x.new_ones(5)")
    judged = on_repaired(tmp_path, POSITIONS, right)
    assert judged.verdict is Verdict.NOT_REACHED
    assert "must match the size of tensor b" in judged.reason
