from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .editors_guide import MENDED, PROGRAM, configurations, surroundings

HELIX, TMUX = shutil.which("hx"), shutil.which("tmux")
PATIENCE = 60
"""Seconds after which something is no longer waited for."""


class Terminal:
    """A screen that can be read, and a keyboard."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._tmux = [str(TMUX), "-S", str(home / "tmux"), "-f", "/dev/null"]

    def start(self, *command: str) -> None:
        self._run("new-session", "-d", "-x", "120", "-y", "40", *command)

    def type(self, *keys: str) -> None:
        for key in keys:
            self._run("send-keys", key)
            time.sleep(0.05)  # an Escape with a key right behind it is Alt and that key

    def screen(self) -> str:
        return self._run("capture-pane", "-p").stdout

    def until(self, holds: Callable[[str], object], *keys: str) -> None:
        """Wait for something to be seen, and press some keys again and again meanwhile."""
        end = time.monotonic() + PATIENCE
        while not holds(self.screen()):
            assert time.monotonic() < end, f"waited in vain; the screen is\n{self.screen()}"
            self.type(*keys)
            time.sleep(0.2)

    def close(self) -> None:
        self._run("kill-server")

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {**surroundings(self._home), "TERM": "xterm-256color"}
        return subprocess.run(
            [*self._tmux, *command], env=environment, cwd=self._home, capture_output=True, text=True, check=False
        )


@pytest.fixture
def terminal(tmp_path):
    folder = tmp_path / "config" / "helix"
    folder.mkdir(parents=True)
    languages, config = configurations("Helix", "toml")
    (folder / "languages.toml").write_text(languages)
    (folder / "config.toml").write_text(config)
    terminal = Terminal(tmp_path)
    yield terminal
    terminal.close()


@pytest.mark.skipif(HELIX is None or TMUX is None, reason="Helix or tmux is not installed")
def test_a_session_in_helix(terminal: Terminal, tmp_path):
    file = tmp_path / "a.py"
    file.write_text(PROGRAM)
    terminal.start(str(HELIX), str(file))
    terminal.until(lambda screen: re.search(r"^●\s+7 ", screen, re.MULTILINE))
    terminal.until(lambda screen: "data: cuda float32 = torch" in screen, "j", "k")
    terminal.type("7", "g", "g", "g", "s")
    terminal.until(lambda screen: "is thrown away" in screen)
    terminal.type("3", "g", "g")
    terminal.until(lambda screen: "cuda, written out since line 3" in screen, "Space", "k")
    terminal.type("Escape", "7", "g", "g", "g", "s")
    terminal.until(lambda screen: "Disable DEV201" in screen, "Space", "a")
    terminal.type("Enter")
    terminal.until(lambda screen: "batch = batch.to" in screen.replace("batch: cuda =", "batch ="))
    terminal.until(lambda screen: "●" not in screen)
    terminal.type(":", "w", "Enter")
    terminal.until(lambda screen: "written" in screen)
    assert file.read_text() == MENDED
