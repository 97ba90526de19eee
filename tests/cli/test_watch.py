"""`--watch` with the real watchfiles, as a person would use it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BUG = "import torch\n\nx = torch.zeros(3, device='cuda')\nx + torch.ones(3)\n"
PATIENCE = 120
"""Seconds after which a test gives up: nothing that works takes that long."""


class Watch:
    """A devlint that watches, and the lines that it writes."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-u", "-m", "devlint", "--watch", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def said(self) -> list[str]:
        """The lines up to the note that it waits."""
        lines: list[str] = []
        while not (lines and "waiting for changes" in lines[-1]):
            lines.append(self._lines.get(timeout=PATIENCE))
        return lines[:-1]


def save(path: Path, text: str) -> None:
    """Write a file at once, as editors do: nobody sees half of it."""
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(path)


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text("x = 1\n")
    started = Watch(tmp_path, "pkg")
    yield started
    started.process.kill()
    started.process.wait()


def test_it_checks_again_after_each_change_until_it_is_interrupted(watch, tmp_path):
    assert watch.said() == ["note: no findings in 1 file"]
    save(tmp_path / "pkg" / "notes.txt", "not read")
    save(tmp_path / "pkg" / "b.py", BUG)
    (line, summary) = watch.said()
    assert line.startswith("pkg/b.py:4:1: DEV101")
    assert summary == "note: [*] 1 fixable with --fix"
    save(tmp_path / "pkg" / "devlint.toml", "selct = 1\n")
    (line,) = watch.said()
    assert line.endswith("unknown setting `selct` (did you mean `select`?)")
    save(tmp_path / "pkg" / "devlint.toml", 'ignore = ["DEV101"]\n')
    assert watch.said() == ["note: no findings in 2 files"]
    (tmp_path / "pkg" / "devlint.toml").unlink()
    (line, summary) = watch.said()
    assert line.startswith("pkg/b.py:4:1: DEV101")
    assert summary == "note: [*] 1 fixable with --fix"
    save(tmp_path / "pyproject.toml", '[tool.devlint]\nignore = ["DEV1"]\n')
    assert watch.said() == ["note: no findings in 2 files"]
    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait(PATIENCE) == 130


def test_what_is_gone_is_told_once(tmp_path):
    entry = {"file": "a.py", "code": "DEV101", "fingerprint": "0", "message": "it was here"}
    (tmp_path / "known.json").write_text(json.dumps({"version": 1, "findings": [entry]}))
    (tmp_path / "a.py").write_text("x = 1\n")
    watch = Watch(tmp_path, "a.py", "--baseline", "known.json")
    try:
        assert watch.said() == [
            "note: gone, though known.json has it: a.py: DEV101 it was here",
            "note: no findings in 1 file",
        ]
        save(tmp_path / "a.py", "x = 2\n")
        assert watch.said() == ["note: no findings in 1 file"]
    finally:
        watch.process.kill()
        watch.process.wait()


def test_without_watchfiles_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['watchfiles'] = None; from devlint.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--watch"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert f"--watch needs watchfiles: pip install -e '{ROOT}[watch]'" in done.stderr


def test_the_standard_input_cannot_be_watched(devlint):
    result = devlint("--watch", "-")
    assert result.status == 2
    assert "--watch goes neither with `-`" in result.err
