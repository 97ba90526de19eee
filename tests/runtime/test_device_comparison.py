"""Tests of `devlint run --device emulated:all`: where a program runs, and whether it computes the same there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
from devlint.runtime.printed_numbers import (
    Line,
    first_missing,
    line_text,
    numbered_lines,
    stable_lines,
)

ROOT = Path(__file__).parents[2]

PORTED = """\
import sys
import time
import torch
from torch import nn

torch.manual_seed(0)
device = torch.accelerator.current_accelerator() or torch.device("cpu")
if device.type != "cpu":
    torch.get_device_module().manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters())
for step in range(int(sys.argv[1])):
    loss = model(torch.randn(8, 4).to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{device}: loss {loss.item():.6f} after {time.perf_counter_ns()} ns")
if device.type != "cpu":
    print("memory", torch.accelerator.memory_allocated())
"""
LIMITED = """\
import torch

device = torch.accelerator.current_accelerator() or "cpu"
x = torch.tensor([0.1, 0.2]).to(device)
wide = x.double()
print((wide * 3).sum().item())
"""
TIED = """\
import torch

def place(model):
    return model.to("cuda" if torch.accelerator.is_available() else "cpu")

place(torch.nn.Linear(1, 1))
"""


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(source, encoding="utf-8")
    command = "from devlint.cli.run_command import run; run(prog_name='devlint run')"
    return subprocess.run(
        [sys.executable, "-c", command, "--device", "emulated:all", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def test_a_program_that_runs_everywhere_computes_the_same_everywhere(tmp_path: Path) -> None:
    done = run(tmp_path, PORTED, "program.py", "2")
    rows = done.stderr.splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [
        ["cpu", "yes"],
        ["emulated:cuda", "yes"],
        ["emulated:xpu", "yes"],
        ["emulated:mps", "yes"],
        ["emulated:npu", "yes"],
    ]
    assert all("same     4 final parameters, 2 printed lines" in row for row in rows[2:])
    assert done.returncode == 0
    assert done.stdout.startswith("cpu: loss ") and done.stdout.count("loss") == 2


def test_limits_of_a_backend_stop_a_program_or_change_its_numbers(tmp_path: Path) -> None:
    done = run(tmp_path, LIMITED, "--output-format", "json", "--output", "rows.json", "program.py")
    assert done.returncode == 1
    report = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    rows = {row["device"]: row for row in report["runs"]}
    assert not report["proven"]
    assert [rows[f"emulated:{kind}"]["numbers"] for kind in ("cuda", "xpu", "npu")] == ["same", "same", "different"]
    assert rows["emulated:npu"]["detail"].startswith("not printed: 0.9")
    stopped = rows["emulated:mps"]
    assert (stopped["status"], stopped["filename"], stopped["line"]) == (1, "program.py", 5)
    assert stopped["error"].startswith("TypeError: Cannot convert a MPS Tensor to float64 dtype")


def test_a_program_tied_to_cuda_stops_elsewhere(tmp_path: Path) -> None:
    done = run(tmp_path, TIED, "program.py")
    assert done.returncode == 1
    rows = {line.split()[0]: line for line in done.stderr.splitlines()}
    for kind in ("xpu", "mps", "npu"):
        assert rows[f"emulated:{kind}"].endswith("program.py:4  AssertionError: Torch not compiled with CUDA enabled")
    assert "emulated:cuda  yes   none" in done.stderr


NOT_PORTED = """\
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
print((torch.ones(3).to(device) * 2).sum().item())
"""


def test_a_program_that_stays_on_the_host_is_not_proven_there(tmp_path: Path) -> None:
    done = run(tmp_path, NOT_PORTED, "--output-format", "full,json:rows.json", "program.py")
    rows = {line.split()[0]: line for line in done.stderr.splitlines()}
    assert rows["emulated:cuda"].split()[1:3] == ["yes", "same"]
    for kind in ("xpu", "mps", "npu"):
        assert rows[f"emulated:{kind}"].split(maxsplit=1)[1] == "host           ran on the host only"
    report = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert [row["host_only"] for row in report["runs"]] == [False, False, True, True, True]
    assert not report["proven"] and done.returncode == 0


def test_a_program_that_uses_every_accelerator_is_proven(tmp_path: Path) -> None:
    choice = "torch.accelerator.current_accelerator() or"
    ported = NOT_PORTED.replace('"cuda" if torch.cuda.is_available() else', choice)
    done = run(tmp_path, ported, "--output-format", "json:rows.json", "program.py")
    report = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert report["proven"] and done.returncode == 0 and not any(row["host_only"] for row in report["runs"])


def test_the_table_is_no_web_page(tmp_path: Path) -> None:
    done = run(tmp_path, TIED, "--output-format", "html", "program.py")
    assert done.returncode == 2 and "writes a table or JSON" in done.stderr


@pytest.mark.parametrize("option", [("--census",), ("--max-waits-per-step", "3")])
def test_what_looks_into_one_run_does_not_go_with_a_comparison(tmp_path: Path, option: tuple[str, ...]) -> None:
    done = run(tmp_path, TIED, *option, "program.py")
    assert done.returncode == 2 and "does not go with --census" in done.stderr


def compared(host: str, other: str, host_again: str | None = None) -> Line | None:
    expected = numbered_lines(host)
    if host_again is not None:
        expected = stable_lines(expected, numbered_lines(host_again))
    return first_missing(expected, numbered_lines(other))


@pytest.mark.parametrize(
    ("host", "other"),
    [
        ("loss 0.5\nloss 0.25", "loss 0.5\nloss 0.25"),
        ("on cpu: 0.5", "on cuda:0: 0.5"),
        ("tensor([1., 2.])", "tensor([1., 2.], device='mps:0')"),
        ("loss 0.5", "memory 12 MB\nloss 0.5\nmemory 15 MB"),
        ("no numbers", "other words"),
    ],
)
def test_what_was_printed_is_the_same(host: str, other: str) -> None:
    assert compared(host, other) is None


@pytest.mark.parametrize(
    ("host", "other", "missing"),
    [
        ("loss 0.5", "loss 0.6", "loss 0.5"),
        ("loss 0.5\nloss 0.25", "loss 0.25\nloss 0.5", "loss 0.25"),
        ("loss 0.5", "", "loss 0.5"),
        ("loss 0.5", "loss nan", "loss 0.5"),
        ("loss 0.5", "accuracy 0.5", "loss 0.5"),
    ],
)
def test_what_was_printed_differs(host: str, other: str, missing: str) -> None:
    line = compared(host, other)
    assert line is not None and line_text(line) == missing


def test_what_varies_from_run_to_run_is_not_compared() -> None:
    assert compared("loss 0.5 in 13 ms", "loss 0.5 in 99 ms", "loss 0.5 in 14 ms") is None
    line = compared("loss 0.5 in 13 ms", "loss 0.6 in 99 ms", "loss 0.5 in 14 ms")
    assert line is not None and line_text(line) == "loss 0.5 in ... ms"
    assert compared("a 1\nb 2", "a 1", "a 1") is None
