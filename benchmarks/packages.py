"""What devlint says of published packages at its default settings, against verdicts given by reading the code.

    python benchmarks/packages.py [--from DIR] [--all | --later | PACKAGE...]

Four large packages, unless others are named (or all of them asked for, or the second sample of them) that were read in
the same way and that devlint was not made with. Downloads the wheels (`pip download --no-deps`) into a folder, or takes
them from `--from DIR`, unpacks them and runs `devlint check` inside each. Every finding of the families DEV1 to DEV3 is
looked up in `packages.jsonl`, which holds one verdict a line: package, version, file, line, code, verdict ("true" or
"false") and the reason. A finding that nobody has read yet is listed as unrecorded. The exit status is 1 when a target
is missed (see `TARGETS`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wheels import LATER, MORE, VERSIONS, unpack, wheel

VERDICTS = Path(__file__).with_name("packages.jsonl")
JUDGED = ("DEV1", "DEV2", "DEV3")
ALL = {**VERSIONS, **MORE, **LATER}
HEADINGS = (
    "package                      files    lines  findings  DEV1-3  true  false  unrecorded  lines/finding  % true"
    "  errors  skipped"
)
SURE = 85
"""Percent of the judged findings that must be true."""
QUIET = 4000
"""Lines of code for each finding of any family: it must not be fewer."""
TARGETS = f"at least {SURE} % of the DEV1-DEV3 findings true, at least {QUIET:,} lines a finding, nothing lost"


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """Where a package has a finding."""

    package: str
    version: str
    file: str
    line: int
    code: str

    @classmethod
    def read(cls, record: dict[str, Any]) -> Spot:
        """The place a verdict is about."""
        return cls(record["package"], record["version"], record["file"], record["line"], record["code"])


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one package gave."""

    name: str
    files: int
    lines: int
    findings: Counter[str]
    """How many findings each code has."""
    judged: tuple[tuple[Spot, str], ...]
    """The findings of DEV1 to DEV3, each with what devlint says."""
    errors: int
    """Failures inside devlint."""
    skipped: tuple[str, ...]
    """Files that were not analysed: never offered, or unreadable."""


def devlint(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`devlint check` on everything in a folder, whatever configuration lies around it."""
    command = [sys.executable, "-m", "devlint", "check", "--isolated", "--no-respect-gitignore", *options, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def examine(package: str, archive: Path) -> Outcome:
    """Run devlint on the files of a wheel."""
    with tempfile.TemporaryDirectory() as place:
        folder = unpack(archive, Path(place))
        sources = sorted(folder.rglob("*.py"))
        offered = set(devlint(folder, "--show-files").stdout.splitlines())
        run = devlint(folder, "--verbose", "--exit-zero", "--output-format", "json")
        if run.returncode:
            raise SystemExit(f"devlint failed on {package}:\n{run.stderr}")
        found = json.loads(run.stdout)
        names = {path.relative_to(folder).as_posix() for path in sources}
        broken = {one["filename"] for one in found if one["code"] == "DEV900"}
        return Outcome(
            package,
            len(sources),
            sum(path.read_bytes().count(b"\n") for path in sources),
            Counter(one["code"] for one in found),
            tuple(_judged(package, found)),
            run.stderr.count("internal error in "),
            tuple(sorted(names - offered | broken)),
        )


def _judged(package: str, found: Iterable[dict[str, Any]]) -> Iterable[tuple[Spot, str]]:
    for one in found:
        if one["code"].startswith(JUDGED):
            spot = Spot(package, ALL[package], one["filename"], one["location"]["row"], one["code"])
            yield spot, one["message"]


def read_verdicts() -> dict[Spot, bool]:
    """Which of the findings ever recorded are true."""
    records = map(json.loads, VERDICTS.read_text(encoding="utf-8").splitlines())
    return {Spot.read(record): record["verdict"] == "true" for record in records}


def report(outcomes: Sequence[Outcome], verdicts: dict[Spot, bool]) -> bool:
    """Print a line for each package, what is worth reading, and whether every target is met."""
    print(HEADINGS)
    for outcome in outcomes:
        _print_row(outcome.name, [outcome], verdicts)
    _print_row("all", outcomes, verdicts)
    for outcome in outcomes:
        codes = ", ".join(f"{code} {count}" for code, count in sorted(outcome.findings.items()))
        print(f"\n{outcome.name}: {codes or 'silent'}")
        for spot, message in outcome.judged:
            verdict = {True: "true", False: "FALSE", None: "UNRECORDED"}[verdicts.get(spot)]
            print(f"  {verdict}: {spot.file}:{spot.line} {spot.code} {message}")
        for file in outcome.skipped:
            print(f"  skipped: {file}")
    judged = [verdicts.get(spot) for outcome in outcomes for spot, _ in outcome.judged]
    lines, findings = sum(one.lines for one in outcomes), sum(one.findings.total() for one in outcomes)
    met = judged.count(True) * 100 >= SURE * len(judged) and findings * QUIET <= lines
    met = met and not any(outcome.errors or outcome.skipped for outcome in outcomes)
    print(f"\n{'met' if met else 'MISSED'}: {TARGETS}")
    return met


def _print_row(name: str, outcomes: Sequence[Outcome], verdicts: dict[Spot, bool]) -> None:
    judged = [verdicts.get(spot) for outcome in outcomes for spot, _ in outcome.judged]
    findings = sum(one.findings.total() for one in outcomes)
    lines = sum(one.lines for one in outcomes)
    true, false, unrecorded = judged.count(True), judged.count(False), judged.count(None)
    quiet = f"{lines // findings:,}" if findings else "-"
    share = f"{100 * true / len(judged):.0f}" if judged else "-"
    print(
        f"{name:27} {sum(one.files for one in outcomes):6} {lines:8,} {findings:9} {len(judged):7} {true:5} {false:6}"
        f" {unrecorded:11} {quiet:>14} {share:>7} {sum(one.errors for one in outcomes):7}"
        f" {sum(len(one.skipped) for one in outcomes):8}"
    )


def main() -> None:
    """Examine the packages that are asked for, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(ALL))
    parser.add_argument("--all", action="store_true", help="all packages that were read")
    parser.add_argument("--later", action="store_true", help="the packages of the second sample")
    parser.add_argument("--from", dest="folder", type=Path, metavar="DIR", help="where the wheels are, or go to")
    given = parser.parse_args()
    if unknown := set(given.packages) - set(ALL):
        parser.error(f"unknown package: {', '.join(sorted(unknown))}")
    folder = given.folder or Path(tempfile.gettempdir()) / "devlint-packages"
    folder.mkdir(parents=True, exist_ok=True)
    names = ALL if given.all else LATER if given.later else given.packages or VERSIONS
    outcomes = [examine(package, wheel(package, folder)) for package in names]
    sys.exit(not report(outcomes, read_verdicts()))


if __name__ == "__main__":
    main()
