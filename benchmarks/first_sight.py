"""Measure devlint on public repositories that it has never seen: draw findings for readers, and count their verdicts.

    python benchmarks/first_sight.py draw CHECKOUTS RECORD [--most 10] [--seed 13]
    python benchmarks/first_sight.py report RECORD...
    python benchmarks/first_sight.py again RECORD CHECKOUTS... [--from-sample 1]

`draw` runs `devlint check` at its default settings in every directory of CHECKOUTS (one repository each) and writes the
findings of DEV1 to DEV3 to RECORD, at most `--most` of one repository, drawn at random. Two readers who did not write
the rules then add their verdicts to the lines of RECORD, and a third one where the two differ. `report` prints the
share of true, useless and false findings by code, by confidence and by kind of assumption, and how often the readers
differed. `again` runs devlint in the checkouts, which lie at the commits of RECORD, and prints the same for the
findings that are still reported: what has been learnt from is no measure of what is new, but shows what a change costs.

RECORD has one JSON object a line. A line with `repositories` begins a sample: it has the name, commit, files, lines
and number of findings of each. Each other line is a finding of the sample above it: `repository`, `file`, `row`,
`code`, `confidence`, `message`, `trace` (a list of messages with file and row), `assumptions` (a list of kinds) and
`verdicts` (a list of objects with `reader`, `verdict` and `reason`). Verdicts: "true" (who runs the code on an
accelerator gets an error or a wrong result, or a statement certainly does nothing where it was meant to do
something), "useless" (right, but helps nobody), "false" (what is said is wrong).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

JUDGED: Final = ("DEV1", "DEV2", "DEV3")
VERDICTS: Final = ("true", "useless", "false")
TIME_LIMIT: Final = 1800
"""The seconds that one repository may take."""

Record = dict[str, Any]
"""One line of a record."""


def findings_of(checkout: Path) -> list[Record]:
    """Return all findings of devlint in a directory, at its default settings, as the JSON format has them."""
    options = ["--no-cache", "--isolated", "--exit-zero", "--no-respect-gitignore"]
    command = [sys.executable, "-m", "devlint", "check", *options]
    done = subprocess.run(
        [*command, "--output-format", "json", "."], cwd=checkout, capture_output=True, timeout=TIME_LIMIT, check=False
    )
    return list(json.loads(done.stdout))


def commit_of(checkout: Path) -> str:
    """Return the commit of a checkout: from the file `NAME.commit` beside it, else from git."""
    note = checkout.with_name(f"{checkout.name}.commit")
    if note.exists():
        return note.read_text().strip()
    return subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()


def count_files(checkout: Path) -> tuple[int, int]:
    """Return the number of Python files and notebooks in a directory, and the lines of the Python files."""
    files = [one for pattern in ("*.py", "*.ipynb") for one in checkout.rglob(pattern) if one.is_file()]
    return len(files), sum(one.read_bytes().count(b"\n") for one in files if one.suffix == ".py")


def recorded_finding(repository: str, finding: Record) -> Record:
    """Return the line of a record for a finding that no reader has judged yet."""
    return {
        "repository": repository,
        "file": finding["filename"],
        "row": finding["location"]["row"],
        "code": finding["code"],
        "confidence": finding["confidence"],
        "message": finding["message"],
        "trace": [[step["message"], step["filename"], step["location"]["row"]] for step in finding["trace"]],
        "assumptions": sorted({one["kind"] for one in finding.get("assumptions", ())}),
        "verdicts": [],
    }


def draw(checkouts: Path, most: int, seed: int) -> Iterator[Record]:
    """Yield the lines of a new record: the sample, then at most `most` judged findings of each repository."""
    sample, drawn = [], []
    for checkout in sorted(one for one in checkouts.iterdir() if one.is_dir()):
        found = [one for one in findings_of(checkout) if one["code"].startswith(JUDGED)]
        files, lines = count_files(checkout)
        name = checkout.name.replace("+", "/", 1)
        sample.append(
            {"name": name, "commit": commit_of(checkout), "files": files, "lines": lines, "found": len(found)}
        )
        # A generator for each repository, so that the draw of one does not depend on the others.
        chosen = random.Random(f"{seed}/{name}").sample(found, min(most, len(found)))
        drawn += [recorded_finding(name, one) for one in chosen]
        print(f"{name}: {len(found)} findings of DEV1-DEV3 in {lines:,} lines", file=sys.stderr)
    yield {"repositories": sample, "most": most, "seed": seed}
    yield from drawn


def decided(finding: Record) -> str | None:
    """Return the verdict on a finding: that of both readers, or of a third where they differ; None if undecided."""
    verdicts = [one["verdict"] for one in finding["verdicts"]]
    if len(verdicts) == 1 or (len(verdicts) >= 2 and verdicts[0] == verdicts[1]):
        return str(verdicts[0])
    return str(verdicts[2]) if len(verdicts) > 2 else None


def table(title: str, groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of verdicts: one line for each group, with counts and percentages."""
    yield f"{title:<24}{'read':>6}" + "".join(f"{verdict:>16}" for verdict in VERDICTS)
    for name, verdicts in sorted(groups.items()):
        counts = Counter(verdicts)
        cells = (f"{counts[one]:>8} ({100 * counts[one] / len(verdicts):3.0f} %)" for one in VERDICTS)
        yield f"{name:<24}{len(verdicts):>6}" + "".join(f"{cell:>16}" for cell in cells)
    yield ""


def report(records: Iterable[Path]) -> Iterator[str]:
    """Yield the lines of the report on some records."""
    lines = repositories = 0
    findings: list[Record] = []
    for row in (json.loads(line) for path in records for line in path.read_text(encoding="utf-8").splitlines()):
        if "repositories" in row:
            repositories += len(row["repositories"])
            lines += sum(one["lines"] for one in row["repositories"])
        else:
            findings.append(row)
    judged = [(one, verdict) for one in findings if (verdict := decided(one)) is not None]
    yield f"{repositories} repositories, {lines:,} lines; {len(findings)} findings drawn, {len(judged)} decided"
    twice = [[each["verdict"] for each in one["verdicts"][:2]] for one in findings if len(one["verdicts"]) > 1]
    if twice:
        differed = sum(left != right for left, right in twice)
        yield f"read twice: {len(twice)}; the two readers differed on {differed} ({100 * differed / len(twice):.0f} %)"
    yield ""
    groups: dict[str, dict[str, list[str]]] = {
        title: defaultdict(list) for title in ("", "code", "confidence", "assumes")
    }
    for one, verdict in judged:
        groups[""]["all"].append(verdict)
        groups["code"][one["code"]].append(verdict)
        groups["confidence"][one["confidence"]].append(verdict)
        for kind in one["assumptions"] or ["nothing recorded"]:
            groups["assumes"][kind].append(verdict)
    for title, group in groups.items():
        yield from table(title, group)


def still_reported(records: Iterable[Record], checkouts: Iterable[Path], first: int) -> Iterator[str]:
    """Yield the lines of a report on the judged findings of the samples from `first` on, by what devlint says today."""
    folders = {one.name.replace("+", "/", 1): one for folder in checkouts for one in folder.iterdir() if one.is_dir()}
    today: dict[str, dict[tuple[str, int, str], str]] = {}
    groups: dict[str, dict[str, list[str]]] = {title: defaultdict(list) for title in ("confidence", "code")}
    sample = 0
    for one in records:
        sample += "repositories" in one
        verdict = decided(one) if sample >= first and one.get("repository") in folders else None
        if verdict is None:
            continue
        name = one["repository"]
        if name not in today:
            today[name] = {
                (Path(each["filename"]).as_posix(), each["location"]["row"], each["code"]): each["confidence"]
                for each in findings_of(folders[name])
            }
        confidence = today[name].get((one["file"], one["row"], one["code"]))
        groups["confidence"][f"was {one['confidence']}"].append(verdict)
        groups["confidence"][f"is {confidence or 'not reported'}"].append(verdict)
        if confidence is not None:
            groups["code"][one["code"]].append(verdict)
    for title, group in groups.items():
        yield from table(title, group)


def main() -> None:
    """Draw findings, or report on verdicts, perhaps with what devlint says today."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw", help="run devlint on checkouts and record findings")
    drawing.add_argument("checkouts", type=Path)
    drawing.add_argument("record", type=Path)
    drawing.add_argument("--most", type=int, default=10, help="findings of one repository that enter the record")
    drawing.add_argument("--seed", type=int, default=13)
    reporting = commands.add_parser("report", help="count the verdicts of records")
    reporting.add_argument("records", type=Path, nargs="+")
    repeating = commands.add_parser("again", help="run devlint on the checkouts of a record, and count verdicts")
    repeating.add_argument("record", type=Path)
    repeating.add_argument("checkouts", type=Path, nargs="+")
    repeating.add_argument("--from-sample", type=int, default=1, help="the first sample of the record that counts")
    options = parser.parse_args()
    if options.command == "draw":
        rows = draw(options.checkouts, options.most, options.seed)
        options.record.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif options.command == "report":
        print("\n".join(report(options.records)))
    else:
        lines = options.record.read_text(encoding="utf-8").splitlines()
        print("\n".join(still_reported(map(json.loads, lines), options.checkouts, options.from_sample)))


if __name__ == "__main__":
    main()
