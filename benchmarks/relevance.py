"""Measure what devlint spends on code that no tensor reaches, as a multiple of `ast.parse` of the same files.

    python benchmarks/relevance.py [--rounds N] [--keep DIR]

The project is put together from installed packages that do not use torch (command-line programs, servers and
libraries, about 50,000 lines) and from the training program in `fixtures/demo`, whose three files import torch. Both
run as processes of their own, in alternation, so that a noisy machine affects both alike; the medians count. The time
that Python and devlint take to check an empty file is measured too. A first round, which does not count, lets Python
write the bytecode that it finds where devlint is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from process_cost import cost_of

PACKAGES: Final = ("click", "jsonschema", "pre_commit", "pygls", "virtualenv")
"""Packages of the `dev` extra that do not use torch."""
TRAINING: Final = Path(__file__).parents[1] / "fixtures" / "demo"
PARSE: Final = """
import ast, sys
from pathlib import Path
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    ast.parse(path.read_bytes())
"""


def assemble(folder: Path) -> None:
    """Copy the Python files of the packages and of the training program into a folder."""
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit(f"{name} is not installed: install the extra dev")
        _copy(Path(spec.submodule_search_locations[0]), folder / name)
    _copy(TRAINING, folder / "training")


def _copy(source: Path, target: Path) -> None:
    """Copy the Python files of a folder, with their places in it."""
    for path in source.rglob("*.py"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def seconds(command: list[str]) -> float:
    """Return the processor time of a command and its children, in seconds."""
    cost = cost_of(command)
    if cost.status:
        raise SystemExit(f"{command} failed with status {cost.status}")
    return cost.processor


def measure(project: Path, rounds: int) -> None:
    """Print the median times of checking a project and of parsing it, and the first as a multiple of the second."""
    empty = project.with_name("empty.py")
    empty.touch()
    parse = [sys.executable, "-c", PARSE, str(project)]
    check, start = (
        [sys.executable, "-m", "devlint", "check", "--isolated", "--exit-zero", "--no-cache", str(path)]
        for path in (project, empty)
    )
    times = [[seconds(command) for command in (parse, check, start)] for _ in range(rounds + 1)]
    parsing, checking, starting = map(statistics.median, zip(*times[1:], strict=True))
    files = list(project.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    print(f"{len(files):,} files, {lines:,} lines: devlint {checking:.2f} s ({lines / checking:,.0f} lines a second),")
    print(f"{checking / parsing:.2f} times ast.parse ({parsing:.2f} s); an empty file takes {starting:.2f} s")


def main() -> None:
    """Put the project together and measure it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="put the project into DIR/project and leave it there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        assemble(folder / "project")
        measure(folder / "project", given.rounds)


if __name__ == "__main__":
    main()
