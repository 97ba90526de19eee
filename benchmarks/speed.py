"""How much processor time devlint takes for a folder, as a multiple of `libcst.parse_module` of the same files.

    python benchmarks/speed.py FOLDER... [--rounds N]

Both are run as processes of their own, by turns, so that a noisy machine disturbs both alike; the medians count.
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
gc.disable()
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    try:
        libcst.parse_module(path.read_bytes())
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
"""


def seconds(command: list[str]) -> float:
    """The processor time of a command and its children, in seconds."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def compare(folder: Path, rounds: int) -> tuple[float, float]:
    """The median times of parsing and of linting a folder."""
    parsing, linting = [], []
    for _ in range(rounds):
        parsing.append(seconds([sys.executable, "-c", PARSE, str(folder)]))
        linting.append(seconds([sys.executable, "-m", "devlint", "--exit-zero", str(folder)]))
    return statistics.median(parsing), statistics.median(linting)


def main() -> None:
    """Print one line for each folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for folder in given.folders:
        parsing, linting = compare(folder, given.rounds)
        ratio = f"{linting / parsing:.2f} times"
        print(f"{folder.name}: parse_module {parsing:.1f} s, devlint {linting:.1f} s, {ratio}", flush=True)


if __name__ == "__main__":
    main()
