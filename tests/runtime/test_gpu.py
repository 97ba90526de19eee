"""Tests of the cases on a real device, which must behave as the emulated one; skipped without CUDA."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[3] / "shared" / "cases"
CASES = [(path.parent.name, json.loads(path.read_text(encoding="utf-8"))) for path in sorted(ROOT.glob("*/case.json"))]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.skipif(not CASES, reason="the cases are not beside this checkout"),
]


@pytest.mark.parametrize(("case", "facts"), [pytest.param(*each, id=each[0]) for each in CASES if each[1]["runtime"]])
@pytest.mark.parametrize("variant", ["bad", "good"])
def test_the_case_does_on_cuda_what_it_is_labelled_with(case: str, facts: dict[str, str], variant: str) -> None:
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=ROOT / case / variant,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if variant == "bad" and facts["symptom"].startswith("raises"):
        assert done.returncode == 1 and re.search(facts["error"], done.stderr), done.stderr[-800:]
    else:
        assert done.returncode == 0, done.stderr[-800:]


def test_recording_a_real_device_changes_no_bit_and_sees_its_transfers() -> None:
    from devlint.runtime import record

    def work() -> torch.Tensor:
        torch.manual_seed(0)
        layer = torch.nn.Linear(16, 4).cuda()
        out = layer(torch.randn(8, 16).to("cuda")).sum()
        out.backward()
        return torch.cat([out.detach().reshape(1), layer.weight.grad.flatten()]).cpu()

    plain = work()
    with record() as report:
        recorded = work()
    assert torch.equal(plain, recorded)
    assert sum(cost.transfers for cost in report.costs) >= 4
