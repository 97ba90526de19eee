"""What a run says of its cost: `--profile`, `--statistics` and `--verbose`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = {
    "pyproject.toml": "[tool.devlint]\n",
    "net.py": "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
    "        super().__init__()\n        self.shift = torch.ones(3)\n\n    def forward(self, x):\n"
    + "".join(f"        x = x + self.shift * {number}\n" for number in range(400))
    + "        return x\n",
    "train.py": "import torch\nfrom net import Net\n\n\ndef train():\n"
    + "".join(f"    x = torch.ones({number}, device='cuda').cpu()\n" for number in range(1, 400))
    + "    return x\n",
    "words.py": "def count(text):\n    return len(text.split())\n",
}
SECONDS = r" *\d+\.\d\d  +\d+\.\d%  "


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs devlint as a user does, in a folder with a program."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "devlint", "--exit-zero", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)

    return start


def test_the_profile_names_files_and_definitions_and_what_the_run_cost(run):
    told = run("--profile", "-q", "--no-cache", "--jobs", "1").stderr
    files, _, rest = told.partition("slowest definitions, with what they call\n")
    assert files.startswith("slowest files, in seconds of processor time\n")
    assert sorted(re.findall(rf"^{SECONDS}(\S+)$", files, re.MULTILINE)) == ["net.py", "train.py"]
    named = re.findall(rf"^{SECONDS}(\S+: .+)$", rest, re.MULTILINE)
    assert {"net.py: Net.forward", "train.py: train"} <= {*named}
    assert "\n3 files: 2 analysed, 0 from the cache, 1 without tensors\n" in rest
    assert re.search(r"\n\d+\.\d\d s, \d+\.\d\d s of processor time(, peak memory \d+ MB)?\n$", rest)


def test_the_profile_leaves_reports_as_they_are(run):
    plain = run("--no-cache", "--output-format", "json")
    profiled = run("--no-cache", "--output-format", "json", "--profile", "-q")
    assert json.loads(profiled.stdout) == json.loads(plain.stdout) != []
    assert "slowest files" in profiled.stderr


def test_what_the_cache_knew_is_no_part_of_the_profile(run, tmp_path):
    run()
    told = run("--profile").stderr
    assert "every result was in the cache: --no-cache" in told
    assert "3 files: 0 analysed, 3 from the cache\n" in told
    (tmp_path / "train.py").write_text(FILES["train.py"] + "\n\ndef more():\n    return train()\n")
    told = run("--profile").stderr
    assert re.findall(rf"^{SECONDS}(\S+)$", told, re.MULTILINE) == ["train.py"]
    assert "3 files: 1 analysed, 1 from the cache, 1 without tensors\n" in told


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")
def test_the_profile_covers_all_processes(run, tmp_path):
    # Files of this size are worth two processes.
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(FILES["train.py"] * 15)
    told = run("--profile", "--no-cache", "--jobs", "2").stderr
    assert "5 files: 4 analysed by 2 processes, 0 from the cache, 1 without tensors\n" in told
    assert "one.py: train\n" in told and "two.py: train\n" in told
    assert re.search(r"peak memory \d+ MB \(\d+ MB in the largest process that it started\)\n$", told)


def test_statistics_tell_what_the_run_cost(run):
    told = run("--statistics", "--no-cache")
    assert "DEV103  unregistered-tensor" in told.stdout
    assert "slowest" not in told.stderr
    assert re.match(r"note: 3 files: 2 analysed, .*\nnote: \d+\.\d\d s, .* processor time", told.stderr)
    assert run("--statistics", "-q").stderr == ""
    assert run("--output-format", "statistics").stderr == ""


def test_verbose_tells_what_is_done(run):
    told = run("-v").stderr.splitlines()
    assert told[:4] == [
        "note: settings: pyproject.toml",
        "note: reading: 3 files",
        "note: checking: 2 files",
        "note: comparing the findings",
    ]
    assert told[-2] == "note: 3 files: 2 analysed, 0 from the cache, 1 without tensors"
    assert "0 analysed, 3 from the cache" in run("-v").stderr
    assert run("-q").stderr == ""


def test_fixes_cannot_be_profiled(run):
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run("--profile", "--fix")
    assert failed.value.returncode == 2
    assert "--profile cannot be combined with fixes" in failed.value.stderr
