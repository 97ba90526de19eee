"""Programs in the documentation, and what devlint says of them."""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

from . import tables

ROOT = Path(__file__).parent.parent.parent
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("api", "index", "start", "certainty", "configuration")),
)
WITH_TORCH = "docs/runtime.md"
AGAIN = "run `python -m tests.documentation`"
"""What to do where a page does not say what devlint does."""
_EXAMPLE = re.compile(
    r"(?:```python\n(?P<program>(?:(?!```).)*)```|<!-- the same program -->)\n\n"
    r"```text\n(?:\$ devlint (?P<command>.+?)\n)?(?P<output>(?:(?!```).)*)```",
    re.DOTALL,
)
"""A program, or a mark for the one before it, with its output or that of a command on it."""


def checked(program: str, arguments: list[str]) -> str:
    """What `devlint ARGUMENTS` prints on a terminal where the file that they end with holds this program."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / arguments[-1]).write_text(program, encoding="utf-8")
        command = [sys.executable, "-m", "devlint", *arguments]
        wanted = {"PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1", "DEVLINT_OUTPUT_FORMAT": "full"}
        environment = os.environ | wanted
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    return (done.stdout + done.stderr).replace(f"{folder}{os.sep}", "")


def executed(program: str) -> str:
    """What the program prints."""
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed):
        path = Path(folder) / "program.py"
        path.write_text(program, encoding="utf-8")
        runpy.run_path(str(path))
    return printed.getvalue()


def refreshed(page: str) -> str:
    """The page with the outputs that its programs really have."""

    last = ""

    def example(found: re.Match[str]) -> str:
        nonlocal last
        last, command = found["program"] or last, found["command"]
        output = checked(last, command.split()) if command else executed(last)
        return page[found.start() : found.start("output")] + output + page[found.end("output") : found.end()]

    return tables.refreshed(_EXAMPLE.sub(example, page))


def write() -> None:
    """Write the pages."""
    for path in map(ROOT.joinpath, (*PAGES, WITH_TORCH)):
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
