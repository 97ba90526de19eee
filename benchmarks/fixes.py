"""What devlint's fixes make of real code: cases with a known bug, and published packages.

    python benchmarks/fixes.py [--cases DIR] [--from DIR] [PACKAGE...]

Each case (`DIR/*/case.json` with its program in `bad/`) is fixed by `devlint check --fix --unsafe-fixes`, with the
rules of its bug selected besides the default ones; then it is counted whether its finding is gone, and whether the
program runs clean on an emulated device. Each package is fixed in memory, by safe fixes and by all, and what must hold
of every repair is checked: the files parse, a second run changes nothing, no finding is new, those fixed are gone, and
every byte outside the edits is what it was. The exit status is 1 where a figure is below its target or a check fails.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CASES = ROOT.parent / "shared" / "cases"
LOST = 65
"""Percent of the cases that must lose their finding."""
CLEAN = 60
"""Percent of the cases that must then run clean."""


@dataclass(frozen=True, slots=True)
class Played:
    """What became of one case."""

    name: str
    found: bool
    lost: bool
    clean: bool
    why: str = ""

    @property
    def line(self) -> str:
        """The case in a line of the report."""
        words = {False: "no", True: "yes"}
        return (
            f"{self.name:32} {words[self.found]:>6} {words[self.lost]:>5} {words[self.clean]:>6}  {self.why}".rstrip()
        )


def devlint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A command of devlint's, in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "devlint", *options], cwd=folder, capture_output=True, text=True, check=False
    )


def findings(folder: Path, codes: Sequence[str]) -> list[dict[str, Any]]:
    """The findings with some codes."""
    options = ("--isolated", "--extend-select", ",".join(codes), "--exit-zero", "--output-format", "json")
    run = devlint(folder, "check", *options, ".")
    if run.returncode:
        raise SystemExit(run.stderr)
    return [one for one in json.loads(run.stdout) if one["code"] in codes]


@cache
def rules() -> frozenset[str]:
    """The codes of the rules there are."""
    return frozenset(
        one["code"] for one in json.loads(devlint(ROOT, "rule", "--all", "--output-format", "json").stdout)
    )


def play(case: Path) -> Played:
    """Fix a case and run it."""
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    codes = sorted({code for bug in facts["expect"] for code in bug["codes"]} & rules())
    if not codes:
        return Played(case.name, found=False, lost=False, clean=False, why="there is no such rule yet")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "bad"
        shutil.copytree(case / "bad", folder, ignore=shutil.ignore_patterns("__pycache__"))
        found = bool(findings(folder, codes))
        fix = ("check", "--isolated", "--fix-only", "--unsafe-fixes", "--extend-select", ",".join(codes), ".")
        fixed = devlint(folder, *fix)
        if fixed.returncode:
            raise SystemExit(f"{case.name}: {fixed.stderr}")
        left = findings(folder, codes)
        lost = found and not left
        run = devlint(folder, "run", "--device", "emulated", "--no-lint", "main.py")
        clean = lost and run.returncode == 0
        why = left[0]["message"] if left else "" if clean or not lost else run.stderr.strip().rpartition("\n")[2]
        return Played(case.name, found, lost, clean, why)


def report_cases(cases: Iterable[Path]) -> bool:
    """Print what became of each case; whether enough of them were mended."""
    print(f"{'case':32} {'found':>6} {'lost':>6} {'clean':>6}")
    played = []
    for case in cases:
        played.append(play(case))
        print(played[-1].line, flush=True)
    lost = 100 * sum(one.lost for one in played) / len(played)
    clean = 100 * sum(one.clean for one in played) / len(played)
    print(f"{len(played)} cases: {lost:.0f} % lose their finding, {clean:.0f} % then run clean")
    return lost >= LOST and clean >= CLEAN


def report_package(name: str, folder: Path) -> None:
    """Fix a package in memory, assert what must hold, and print how much was done."""
    sys.path.insert(0, str(ROOT))
    from tests.repair.programs import Program, check

    root = folder if (folder / name).is_dir() else folder.parent
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    program = Program(root, files)
    before = program.look(program.documents)
    for unsafe in (False, True):
        done = check(program, unsafe=unsafe, before=before)
        changed = [each for each, document in done.documents.items() if document.data != files[each]]
        codes = ", ".join(f"{code} {count}" for code, count in sorted(Counter(one.code for one in done.fixed).items()))
        print(
            f"{name}, {'all' if unsafe else 'safe'} fixes: {len(done.fixed)} of {len(before.diagnostics)} findings"
            f" fixed in {len(changed)} files, {len(done.withdrawn)} withdrawn" + (f" ({codes})" if codes else ""),
            flush=True,
        )


def main() -> None:
    """Report on the cases, if they are there, and on the packages."""
    from wheels import VERSIONS, unpacked

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(VERSIONS))
    parser.add_argument("--from", dest="folder", type=Path, metavar="DIR", help="where the packages are, or go to")
    parser.add_argument("--cases", type=Path, default=CASES, metavar="DIR", help="where the cases are")
    given = parser.parse_args()
    if unknown := set(given.packages) - set(VERSIONS):
        parser.error(f"unknown package: {', '.join(sorted(unknown))}")
    cases = sorted(path.parent for path in given.cases.glob("*/case.json"))
    good = report_cases(cases) if cases else True
    folder = given.folder or Path(tempfile.gettempdir()) / "devlint-packages"
    folder.mkdir(parents=True, exist_ok=True)
    for name in given.packages or VERSIONS:
        report_package(name, unpacked(name, folder))
    sys.exit(not good)


if __name__ == "__main__":
    main()
