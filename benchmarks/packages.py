"""Compare devlint's findings in published packages, at its default settings, with verdicts of people.

    python benchmarks/packages.py [--from DIR] [--all | --later | PACKAGE...]

The default is four large packages. Other packages, all packages, or the second sample can be named instead; devlint was
not developed with those, and they were read in the same way. The script downloads the wheels (`pip download --no-deps`)
into a folder, or takes them from `--from DIR`, unpacks them and runs `devlint check` inside each. It looks up every
finding of the families DEV1 to DEV3 in `packages.jsonl`, which holds one verdict a line: package, version, file, line,
code, verdict ("true" or "false") and the reason. A finding without a verdict is listed as unrecorded. The exit status
is 1 if a target is missed (see `TARGETS`).
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

from wheels import FIRST_SAMPLE, SECOND_SAMPLE, VERSIONS, unpack, wheel

VERDICTS = Path(__file__).with_name("packages.jsonl")
JUDGED = ("DEV1", "DEV2", "DEV3")
ALL = {**VERSIONS, **FIRST_SAMPLE, **SECOND_SAMPLE}
HEADINGS = (
    "package                      files    lines  findings  DEV1-3  true  false  unrecorded  lines/finding  % true"
    "  errors  skipped"
)
MIN_TRUE = 85
"""The percentage of the judged findings that must be true."""
MIN_LINES = 4000
"""The least number of lines of code for each finding of any family."""
TARGETS = f"at least {MIN_TRUE} % of the DEV1-DEV3 findings true, at least {MIN_LINES:,} lines a finding, nothing lost"


@dataclass(frozen=True, slots=True, order=True)
class FindingPlace:
    """The place of one finding: package, version, file, line and code; the key of a verdict."""

    package: str
    version: str
    file: str
    line: int
    code: str

    @classmethod
    def read(cls, record: dict[str, Any]) -> FindingPlace:
        """Return the place that a recorded verdict is about."""
        return cls(record["package"], record["version"], record["file"], record["line"], record["code"])


@dataclass(frozen=True, slots=True)
class PackageResult:
    """The results of one package: counts, judged findings, failures and skipped files."""

    name: str
    files: int
    lines: int
    findings: Counter[str]
    """The number of findings with each code."""
    judged: tuple[tuple[FindingPlace, str], ...]
    """The findings of DEV1 to DEV3, each with its message."""
    errors: int
    """The number of internal errors of devlint."""
    skipped: tuple[str, ...]
    """Files that were not analysed: excluded, or unreadable."""


def run_check(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `devlint check` on all files of a folder, without any configuration of the surroundings."""
    alone = ["--no-cache", "--isolated", "--no-respect-gitignore"]
    command = [sys.executable, "-m", "devlint", "check", *alone, *options, "."]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def check_package(package: str, archive: Path) -> PackageResult:
    """Run devlint on the files of a wheel."""
    with tempfile.TemporaryDirectory() as place:
        folder = unpack(archive, Path(place))
        sources = sorted(folder.rglob("*.py"))
        offered = set(run_check(folder, "--show-files").stdout.splitlines())
        run = run_check(folder, "--verbose", "--exit-zero", "--output-format", "json")
        if run.returncode:
            raise SystemExit(f"devlint failed on {package}:\n{run.stderr}")
        found = json.loads(run.stdout)
        names = {path.relative_to(folder).as_posix() for path in sources}
        broken = {one["filename"] for one in found if one["code"] == "DEV900"}
        return PackageResult(
            package,
            len(sources),
            sum(path.read_bytes().count(b"\n") for path in sources),
            Counter(one["code"] for one in found),
            tuple(_judged_findings(package, found)),
            run.stderr.count("internal error in "),
            tuple(sorted(names - offered | broken)),
        )


def _judged_findings(package: str, found: Iterable[dict[str, Any]]) -> Iterable[tuple[FindingPlace, str]]:
    """Yield the findings of the judged families, each with its message."""
    for one in found:
        if one["code"].startswith(JUDGED):
            place = FindingPlace(package, ALL[package], one["filename"], one["location"]["row"], one["code"])
            yield place, one["message"]


def read_verdicts() -> dict[FindingPlace, bool]:
    """Return the recorded verdicts: whether the finding at each place is true."""
    records = map(json.loads, VERDICTS.read_text(encoding="utf-8").splitlines())
    return {FindingPlace.read(record): record["verdict"] == "true" for record in records}


def report(outcomes: Sequence[PackageResult], verdicts: dict[FindingPlace, bool]) -> bool:
    """Print a row for each package, the judged findings and the skipped files; return whether all targets are met."""
    print(HEADINGS)
    for outcome in outcomes:
        _print_row(outcome.name, [outcome], verdicts)
    _print_row("all", outcomes, verdicts)
    for outcome in outcomes:
        codes = ", ".join(f"{code} {count}" for code, count in sorted(outcome.findings.items()))
        print(f"\n{outcome.name}: {codes or 'silent'}")
        for place, message in outcome.judged:
            verdict = {True: "true", False: "FALSE", None: "UNRECORDED"}[verdicts.get(place)]
            print(f"  {verdict}: {place.file}:{place.line} {place.code} {message}")
        for file in outcome.skipped:
            print(f"  skipped: {file}")
    judged = [verdicts.get(place) for outcome in outcomes for place, _ in outcome.judged]
    lines, findings = sum(one.lines for one in outcomes), sum(one.findings.total() for one in outcomes)
    met = judged.count(True) * 100 >= MIN_TRUE * len(judged) and findings * MIN_LINES <= lines
    met = met and not any(outcome.errors or outcome.skipped for outcome in outcomes)
    print(f"\n{'met' if met else 'MISSED'}: {TARGETS}")
    return met


def _print_row(name: str, outcomes: Sequence[PackageResult], verdicts: dict[FindingPlace, bool]) -> None:
    """Print the row of one package, or of all packages together."""
    judged = [verdicts.get(place) for outcome in outcomes for place, _ in outcome.judged]
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
    """Check the packages named on the command line, and report."""
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
    names = ALL if given.all else SECOND_SAMPLE if given.later else given.packages or VERSIONS
    outcomes = [check_package(package, wheel(package, folder)) for package in names]
    sys.exit(not report(outcomes, read_verdicts()))


if __name__ == "__main__":
    main()
