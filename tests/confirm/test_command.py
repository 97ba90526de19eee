"""Tests of `devlint confirm` as a user sees it: both sides of each verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from devlint.cli import confirm_run

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]

POSITIONS = """
    import torch
    from torch import nn


    class Positions(nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.table = torch.zeros(512, size)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table[: x.size(1)]
"""


def confirm(folder: Path, source: str, *options: str, name: str = "program.py") -> subprocess.CompletedProcess[str]:
    """Run the command on one program, in its folder."""
    (folder / name).write_text(textwrap.dedent(source), encoding="utf-8")
    return confirm_folder(folder, *options)


def confirm_folder(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "devlint", "confirm", "--isolated", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def judged(folder: Path, source: str, *options: str) -> list[dict[str, Any]]:
    """Return the report on a program as JSON."""
    done = confirm(folder, source, "--output-format", "json", *options)
    assert done.stderr == ""
    return list(json.loads(done.stdout))


def test_a_true_finding_is_confirmed_and_its_driver_shown(tmp_path: Path) -> None:
    done = confirm(tmp_path, POSITIONS, "--drivers", "drivers")
    assert done.returncode == 1, done.stderr
    assert "DEV103" in done.stdout
    assert "  confirmed: RuntimeError: Expected all tensors to be on the same device" in done.stdout
    assert "    made = Positions(size=16).to(device)\n    made(x=torch.rand(" in done.stdout
    assert done.stdout.endswith("\n1 finding: 1 confirmed\n")
    [driver] = (tmp_path / "drivers").iterdir()
    alone = subprocess.run(
        [sys.executable, "-m", "devlint", "run", "--device", "emulated", "--no-lint", str(driver)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "program.py:12" in alone.stderr or "line 12" in alone.stderr
    assert "Expected all tensors to be on the same device" in alone.stderr


def test_what_the_linter_does_not_report_is_not_run(tmp_path: Path) -> None:
    fine = POSITIONS.replace("self.table = torch.zeros(512, size)", 'self.register_buffer("t", torch.zeros(512, size))')
    done = confirm(tmp_path, fine.replace("self.table[", "self.t["))
    assert done.returncode == 0
    assert done.stdout == "0 findings\n"


def test_the_command_line_chooses_the_rules(tmp_path: Path) -> None:
    done = confirm(tmp_path, POSITIONS, "--ignore", "dev103,DEV105")
    assert (done.returncode, done.stdout) == (0, "0 findings\n")
    done = confirm(tmp_path, POSITIONS, "--select", "DEV193")
    assert done.returncode == 2 and "--select: unknown rule `DEV193`" in done.stderr


def test_a_missing_package_makes_a_finding_not_buildable(tmp_path: Path) -> None:
    using = "super().__init__()\n        no_such_package_at_all.prepare()"
    needing = textwrap.dedent(POSITIONS).replace("super().__init__()", using)
    [found] = judged(tmp_path, "import no_such_package_at_all\n" + needing)
    assert found["verdict"] == "not-buildable"
    assert found["reason"] == "it needs the package no_such_package_at_all, which is not installed"


def test_code_at_the_top_of_a_file_is_left_to_devlint_run(tmp_path: Path) -> None:
    done = confirm(tmp_path, "import torch\n\nx = torch.ones(3).cuda()\nprint(x + torch.ones(3))\n")
    told = "  not buildable: it is in no function: run its file with `devlint run program.py`\n"
    assert told in done.stdout
    assert done.stdout.endswith("\n1 finding: 1 not buildable\n")


def test_a_function_that_nothing_can_call_is_not_called_the_top_of_a_file(tmp_path: Path) -> None:
    source = """
        import torch


        class Plain:
            def __init__(self):
                self.sum = torch.ones(3).cuda() + torch.ones(3)
    """
    [found] = judged(tmp_path, source)
    assert found["reason"] == "it is in no function that could be called"


def test_the_project_is_not_written_to(tmp_path: Path) -> None:
    writing = (
        textwrap.dedent(POSITIONS) + 'from pathlib import Path\nPath(__file__).with_name("made").write_text("x")\n'
    )
    writing += 'Path("made_here").write_text("x")\n'
    [found] = judged(tmp_path, writing)
    assert found["verdict"] == "confirmed"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["program.py"]


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    hanging = textwrap.dedent(POSITIONS).replace("        return", "        time.sleep(600)\n        return")
    hanging = hanging.replace("import torch\n", "import time\n\nimport torch\n", 1)
    [found] = judged(tmp_path, hanging, "--timeout", "15")
    assert found["verdict"] == "not-buildable"
    assert found["reason"] == "it ran longer than 15 seconds"


def test_a_real_device_must_be_there(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is one")
    done = confirm(tmp_path, POSITIONS, "--device", "cuda")
    assert done.returncode == 2
    assert "there is no CUDA device; use --device emulated" in done.stderr


@pytest.mark.parametrize("missing", ["pytest", "nothing"])
def test_a_user_without_pytest_is_told_that_tests_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    (tmp_path / "program.py").write_text("import torch\n", encoding="utf-8")
    monkeypatch.setattr(confirm_run, "find_spec", lambda name: None if name == missing else find_spec(name))
    asked = confirm_run.ConfirmRequest((tmp_path,), "emulated", 60, 8192, isolated=True)
    assert confirm_run.run_confirm(asked) == 0
    assert ("pytest is not installed" in capsys.readouterr().err) is (missing == "pytest")
