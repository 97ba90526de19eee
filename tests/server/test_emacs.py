from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .editors_guide import MENDED, PROGRAM, configurations, surroundings

EMACS = shutil.which("emacs")
HAS_EGLOT = "(progn (package-initialize) (kill-emacs (if (require 'eglot nil t) 0 1)))"


def _has_eglot() -> bool:
    return EMACS is not None and subprocess.run([EMACS, "--batch", "--eval", HAS_EGLOT], check=False).returncode == 0


def test_a_session_in_emacs(tmp_path):
    if not _has_eglot():
        pytest.skip("Emacs with Eglot is not installed")
    file, report, configuration = tmp_path / "a.py", tmp_path / "report.json", tmp_path / "init.el"
    file.write_text(PROGRAM)
    configuration.write_text("\n".join(configurations("Emacs", "elisp")))
    environment = {
        **surroundings(tmp_path),
        "DEVLINT_CONFIGURATION": str(configuration),
        "DEVLINT_FILE": str(file),
        "DEVLINT_REPORT": str(report),
    }
    command = [str(EMACS), "--batch", "-l", str(Path(__file__).with_name("session.el"))]
    done = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert report.exists(), done.stderr
    told = json.loads(report.read_text())
    assert "problem" not in told, told
    (finding,) = told["diagnostics"]
    assert finding.startswith("devlint [DEV201]: ")
    assert told["line"] == 7
    assert "cuda float32" in told["hover"]
    assert "since line 3" in told["hover"] or "since [line 3]" in told["hover"]
    assert told.get("hints", [": cuda float32"]) == [": cuda float32"], "Eglot has hints from 1.12 on"
    assert told["text"] == MENDED
