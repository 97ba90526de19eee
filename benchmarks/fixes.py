"""Measure what devlint's fixes do to real code: programs with a known bug, and published packages.

    python benchmarks/fixes.py [--cases DIR] [--from DIR] [PACKAGE...]

Each case (`DIR/*/case.json` with its program in `bad/`) is fixed by `devlint check --fix --unsafe-fixes`, with the
rules of its bug selected besides the default ones. The script then counts the cases that lose their finding, and those
whose program runs clean on an emulated device. Each package is fixed in memory, once with safe fixes and once with all
fixes, and these properties of every repair are checked: the files parse, a second run changes nothing, no finding is
new, the fixed findings are gone, and every byte outside the edits is unchanged. The exit status is 1 if a figure is
below its target or a check fails.
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
MIN_FIXED = 65
"""The percentage of the cases that must lose their finding."""
MIN_CLEAN = 60
"""The percentage of the cases that must run clean after the fix."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of fixing one case: whether the bug was found, was fixed, and the program ran clean."""

    name: str
    found: bool
    lost: bool
    clean: bool
    why: str = ""

    @property
    def line(self) -> str:
        """The row of the report for this case."""
        words = {False: "no", True: "yes"}
        return (
            f"{self.name:32} {words[self.found]:>6} {words[self.lost]:>5} {words[self.clean]:>6}  {self.why}".rstrip()
        )


def run_devlint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a devlint command in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "devlint", *options], cwd=folder, capture_output=True, text=True, check=False
    )


def findings(folder: Path, codes: Sequence[str]) -> list[dict[str, Any]]:
    """Return devlint's findings in a folder that have one of these codes."""
    options = ("--no-cache", "--isolated", "--extend-select", ",".join(codes), "--exit-zero", "--output-format", "json")
    run = run_devlint(folder, "check", *options, ".")
    if run.returncode:
        raise SystemExit(run.stderr)
    return [one for one in json.loads(run.stdout) if one["code"] in codes]


@cache
def rule_codes() -> frozenset[str]:
    """Return the codes of all rules."""
    return frozenset(
        one["code"] for one in json.loads(run_devlint(ROOT, "rule", "--all", "--output-format", "json").stdout)
    )


def fix_case(case: Path) -> CaseResult:
    """Fix the program of a case and run it."""
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    codes = sorted({code for bug in facts["expect"] for code in bug["codes"]} & rule_codes())
    if not codes:
        return CaseResult(case.name, found=False, lost=False, clean=False, why="there is no such rule yet")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "bad"
        shutil.copytree(case / "bad", folder, ignore=shutil.ignore_patterns("__pycache__"))
        found = bool(findings(folder, codes))
        fix = (
            "check",
            "--no-cache",
            "--isolated",
            "--fix-only",
            "--unsafe-fixes",
            "--extend-select",
            ",".join(codes),
            ".",
        )
        fixed = run_devlint(folder, *fix)
        if fixed.returncode:
            raise SystemExit(f"{case.name}: {fixed.stderr}")
        left = findings(folder, codes)
        lost = found and not left
        run = run_devlint(folder, "run", "--device", "emulated", "--no-lint", "main.py")
        clean = lost and run.returncode == 0
        why = left[0]["message"] if left else "" if clean or not lost else run.stderr.strip().rpartition("\n")[2]
        return CaseResult(case.name, found, lost, clean, why)


def report_cases(cases: Iterable[Path]) -> bool:
    """Print the result of each case; return whether enough cases were fixed and run clean."""
    print(f"{'case':32} {'found':>6} {'lost':>6} {'clean':>6}")
    results = []
    for case in cases:
        results.append(fix_case(case))
        print(results[-1].line, flush=True)
    lost = 100 * sum(one.lost for one in results) / len(results)
    clean = 100 * sum(one.clean for one in results) / len(results)
    print(f"{len(results)} cases: {lost:.0f} % lose their finding, {clean:.0f} % then run clean")
    return lost >= MIN_FIXED and clean >= MIN_CLEAN


def report_package(name: str, folder: Path) -> None:
    """Fix a package in memory, check the properties of every repair, and print how many findings were fixed."""
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
    """Report on the cases, if their folder exists, and on the packages."""
    from wheels import VERSIONS, unpacked_package

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
        report_package(name, unpacked_package(name, folder))
    sys.exit(not good)


if __name__ == "__main__":
    main()
