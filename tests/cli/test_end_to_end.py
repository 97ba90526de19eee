"""devlint as it is started by people and programs, with nothing replaced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
QUESTION = "import torch\n\nx = torch.zeros(3, device='cuda')\nreveal_placement(x)\n"


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "devlint", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_question_in_the_code_is_answered(tmp_path):
    (tmp_path / "a.py").write_text(QUESTION)
    process = start("a.py", cwd=tmp_path)
    out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    assert out.startswith("a.py:4:1: DEV902 x: cuda")


def test_an_unused_suppression_is_never_known(tmp_path):
    (tmp_path / "a.py").write_text("x = 1  # devlint: ignore[DEV101]\n")
    options = ("a.py", "--extend-select", "DEV901", "--baseline", "known.json")
    start(*options, "--update-baseline", cwd=tmp_path).communicate()
    assert json.loads((tmp_path / "known.json").read_text())["findings"] == []
    assert "DEV901" in start(*options, cwd=tmp_path).communicate()[0]


def test_the_standard_input_is_analysed_under_its_name(tmp_path):
    process = start("-", "--stdin-filename", "pkg/a.py", "--output-format", "json", cwd=tmp_path)
    out, _ = process.communicate(QUESTION)
    assert [(each["code"], each["filename"]) for each in json.loads(out)] == [("DEV902", "pkg/a.py")]


def test_files_are_named_as_they_were_given(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text(QUESTION)
    for given, shown in {"pkg": "pkg/a.py", "./pkg/a.py": "pkg/a.py", str(tmp_path): f"{tmp_path}/pkg/a.py"}.items():
        out, _ = start(given, cwd=tmp_path).communicate()
        assert out.startswith(f"{shown}:4:1: ")


def test_torch_is_never_imported(tmp_path):
    (tmp_path / "a.py").write_text(QUESTION)
    code = """
import sys
from devlint.cli import invoke
assert invoke(["a.py", "--select", "ALL", "--ignore", "DEV601"]) == 0
imported = {name.partition(".")[0] for name in sys.modules}
assert "libcst" in imported
assert not imported & {"torch", "numpy", "pytest"}, imported
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_an_interrupt_is_quiet(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = start("pipe", "--output-file", "out.txt", cwd=tmp_path)
    # Opening waits for the other side: devlint has begun to read then, and waits for what never comes.
    with (tmp_path / "pipe").open("w"):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err.strip()) == (130, "", "devlint: interrupted")
    assert not (tmp_path / "out.txt").exists()
