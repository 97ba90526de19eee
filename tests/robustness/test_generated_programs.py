"""Generated programs: what they do on the emulated device agrees with what devlint says of them."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from generated import emulated_runs
from generated.comparison import judge
from generated.emulated_runs import emulation
from generated.program_generator import MAIN, GeneratedProgram
from generated.shrinking import shrunk
from generated.time_limit import TooLong
from generated_programs import tally_of
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SEEDS = range(1, 501)
# What holds today, with a small margin. The shares of reported crashes only go up, the others only down.
REPORTED = 0.93
ALARMED = 0.004
WRONG_REVEALS = 0.001
INTERNAL_ERRORS = 0.0


@pytest.mark.timeout(600)
def test_devlint_agrees_with_five_hundred_programs():
    tally = tally_of(SEEDS)
    assert tally.not_judged <= 0.1 * tally.programs
    assert 0.2 <= sum(tally.crashed.values()) / tally.programs <= 0.6
    assert tally.reported_share >= REPORTED
    assert tally.alarmed_share <= ALARMED
    assert tally.kinds["wrong reveal"] <= WRONG_REVEALS * tally.asked
    assert tally.kinds["internal error"] <= INTERNAL_ERRORS * tally.programs


def judged(text: str):
    """The verdict of a program of one file."""
    with emulation():
        return judge(GeneratedProgram(0, {MAIN: f"import torch\n{text}"}))


def test_a_reported_crash_is_no_disagreement():
    verdict = judged("x = torch.ones(2, device='cuda')\nx + torch.ones(2)\n")
    assert (verdict.outcome.code, verdict.reported, verdict.disagreements) == ("DEV101", True, [])


def test_a_crash_without_a_finding_is_a_miss():
    verdict = judged("x = torch.ones(2, device='cuda')\neval('x + torch.ones(2)')\n")
    assert [(one.kind, one.code) for one in verdict.disagreements] == [("miss", "DEV101")]


def test_a_finding_for_other_callers_is_no_false_alarm():
    text = "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    text += "        self.scale = torch.ones(2)\n    def forward(self, x):\n        return x * self.scale\n"
    verdict = judged(f"{text}Net()(torch.ones(2))\n")
    assert (verdict.outcome.error, verdict.disagreements, verdict.about_other_callers) == (None, [], 1)


def test_a_finding_where_the_error_was_caught_is_true():
    text = "x = torch.ones(2, device='cuda')\ntry:\n    x + torch.ones(2)\nexcept RuntimeError:\n    pass\n"
    assert judged(text).disagreements == []


def test_a_known_and_an_unknown_answer_are_counted():
    verdict = judged("reveal_placement(torch.ones(2))\nx = eval('torch.ones(2)')\nreveal_placement(x)\n")
    assert (verdict.asked, verdict.known, verdict.disagreements) == (2, 1, [])


def test_an_answer_for_a_path_that_does_not_run_is_not_wrong():
    text = "def f(x):\n    reveal_placement(x)\nif len('abc') > 5:\n    f(torch.ones(2).cuda())\nf(torch.ones(2))\n"
    assert judged(text).disagreements == []


def test_a_program_that_never_ends_is_stopped_in_its_own_lines(monkeypatch: pytest.MonkeyPatch):
    """An exception in the middle of torch would leave a dispatch mode behind, and later tests would be emulated."""
    monkeypatch.setattr(emulated_runs, "SECONDS", 0.2)
    endless = "while True:\n    torch.ones(2, device='cuda').softmax(0)\n"
    with emulation():
        outcome = emulated_runs.run(GeneratedProgram(0, {MAIN: f"import torch\n{endless}"}))
    assert isinstance(outcome.error, TooLong)
    assert traceback.extract_tb(outcome.error.__traceback__)[-2].filename == MAIN
    assert _get_current_dispatch_mode_stack() == []


def test_a_seed_makes_the_same_program_in_every_process():
    program = (
        f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r})\n"
        "from generated.emulated_runs import emulation\nfrom generated.program_generator import generate\n"
        "with emulation():\n    print([dict(generate(seed).files) for seed in range(15)])\n"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": number},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in "12"
    ]
    assert made[0] == made[1]


def test_a_program_shrinks_to_its_disagreement():
    text = "import torch\ny = 1\nif y:\n    x = torch.ones(2, device='cuda')\n    eval('x + torch.ones(2)')\nz = 2\n"
    program = GeneratedProgram(0, {MAIN: text})
    with emulation():
        (one,) = judge(program).disagreements
        small = shrunk(program, one)
    assert small.files[MAIN].splitlines() == [
        "import torch",
        "x = torch.ones(2, device='cuda')",
        "eval('x + torch.ones(2)')",
    ]
