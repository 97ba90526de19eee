from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NVIM = shutil.which("nvim")
PROGRAM = """import torch

data = torch.zeros(3, device="cuda")


def move(batch: torch.Tensor):
    batch.to("cuda")
    return batch
"""


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")
def test_a_session_in_neovim(tmp_path):
    file, report = tmp_path / "a.py", tmp_path / "report.json"
    file.write_text(PROGRAM)
    environment = {
        **os.environ,
        "DEVLINT_SERVER": f"{sys.executable} -m devlint server",
        "DEVLINT_FILE": str(file),
        "DEVLINT_REPORT": str(report),
        "XDG_STATE_HOME": str(tmp_path),
    }
    script = Path(__file__).with_name("session.lua")
    command = [str(NVIM), "--headless", "--clean", "-c", f"luafile {script}", "-c", "cquit"]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert report.exists(), done.stderr
    told = json.loads(report.read_text())
    assert "problem" not in told, told
    assert told["diagnostics"] == [{"code": "DEV201", "line": 7, "source": "devlint"}]
    assert "**cuda float32**" in told["hover"]
    assert "since [line 3]" in told["hover"]
    assert [(one["position"]["line"], one["label"]) for one in told["hints"]] == [(2, ": cuda float32")]
    assert told["fix"]
    assert told["text"] == PROGRAM.replace("    batch.to", "    batch = batch.to").splitlines()
