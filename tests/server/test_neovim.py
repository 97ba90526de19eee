from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .editors_guide import MENDED, PROGRAM, configurations, surroundings

NVIM = shutil.which("nvim")


def _version() -> tuple[int, ...]:
    told = subprocess.run([str(NVIM), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", told)
    assert found
    return int(found[1]), int(found[2])


def _configure(folder: Path) -> None:
    """Write down what the guide says for this version of the editor."""
    server, begin, begin_before = configurations("Neovim", "lua")
    (folder / "lsp").mkdir(parents=True)
    if _version() >= (0, 11):
        (folder / "lsp" / "devlint.lua").write_text(server)
    (folder / "init.lua").write_text(begin if _version() >= (0, 11) else begin_before)


@pytest.mark.skipif(NVIM is None, reason="Neovim is not installed")
def test_a_session_in_neovim(tmp_path):
    file, report = tmp_path / "a.py", tmp_path / "report.json"
    file.write_text(PROGRAM)
    environment = {**surroundings(tmp_path), "DEVLINT_FILE": str(file), "DEVLINT_REPORT": str(report)}
    _configure(tmp_path / "config" / "nvim")
    script = Path(__file__).with_name("session.lua")
    command = [str(NVIM), "--headless", "-c", f"luafile {script}", "-c", "cquit"]
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
    assert told["text"] == MENDED.splitlines()
