"""Programs in the documentation, and what devlint says of them. Run as a script, it writes the outputs anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = ("README.md", "docs/api.md")
_EXAMPLE = re.compile(
    r"```python\n(?P<program>(?:(?!```).)*)```\n\n```text\n(?:\$ devlint (?P<name>\S+)\n)?(?P<output>(?:(?!```).)*)```",
    re.DOTALL,
)


def checked(program: str, name: str) -> str:
    """What `devlint NAME` prints on a terminal where the file holds this program."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(program, encoding="utf-8")
        command = [sys.executable, "-m", "devlint", name, "--output-format", "full"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", "NO_COLOR": "1"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    return done.stdout


def executed(program: str) -> str:
    """What the program prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {})
    return printed.getvalue()


def refreshed(page: str) -> str:
    """The page with the outputs that its programs really have."""

    def example(found: re.Match[str]) -> str:
        program, name = found["program"], found["name"]
        output = checked(program, name) if name else executed(program)
        return page[found.start() : found.start("output")] + output + page[found.end("output") : found.end()]

    return _EXAMPLE.sub(example, page)


if __name__ == "__main__":
    for path in map(ROOT.joinpath, PAGES):
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
