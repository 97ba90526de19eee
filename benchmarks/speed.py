"""Measure devlint's processor time for a folder, as a multiple of `libcst.parse_module` of the same files.

    python benchmarks/speed.py FOLDER... [--rounds N]

Both run as processes of their own, in alternation, so that a noisy machine affects both alike; the medians count. The
parse is timed as any program would run it, and again without Python's garbage collector, because devlint switches the
collector off. Python writes the bytecode of devlint in the first round, and finds it later, as where it is installed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

PARSE = """
import gc, sys
from pathlib import Path
import libcst
if sys.argv[2:]:
    gc.disable()
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    try:
        libcst.parse_module(path.read_bytes())
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
"""

WRITING_BYTECODE = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of the processes."""


def seconds(command: list[str]) -> float:
    """Return the processor time of a command and its children, in seconds."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=WRITING_BYTECODE)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def compare(folder: Path, rounds: int) -> tuple[float, float, float]:
    """Return the median times of parsing a folder, of parsing it without the collector, and of linting it."""
    parse = [sys.executable, "-c", PARSE, str(folder)]
    lint = [sys.executable, "-m", "devlint", "--exit-zero", "--no-cache", "--jobs", "1", str(folder)]
    times = [[seconds(command) for command in (parse, [*parse, "uncollected"], lint)] for _ in range(rounds)]
    plain, uncollected, linting = map(statistics.median, zip(*times, strict=True))
    return plain, uncollected, linting


def main() -> None:
    """Print one line for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for folder in given.folders:
        plain, uncollected, linting = compare(folder, given.rounds)
        print(
            f"{folder.name}: devlint {linting:.1f} s, {linting / plain:.2f} times parse_module ({plain:.1f} s),"
            f" {linting / uncollected:.2f} times that without the collector ({uncollected:.1f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
