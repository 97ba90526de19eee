"""Measure `devlint confirm` on public repositories: what share of findings it can run, and does it agree with readers?

    python benchmarks/confirm.py CHECKOUTS... [--record benchmarks/first_sight.jsonl] [--only OWNER/NAME] [--most 0]

Each directory of CHECKOUTS holds repositories in folders OWNER+NAME, as `first_sight.py` draws them. The findings of
DEV101 to DEV106 in the record are run, in the repositories that are there, with the Python that runs this script: what
it lacks cannot be imported. A finding that devlint still reports is taken as it is today; one that it no longer reports
is made again from its line of the record, with the expression that its message names as the place where it fails.

Readers agree with "confirmed" if they said "true" or "useless" (right, but helps nobody), and with "refuted" if they
said "false". Each disagreement is printed. RESULTS gets one JSON object for each finding.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from first_sight import Record, decided

from devlint.api import check_paths
from devlint.confirm.confirmation import CODES, ConfirmOptions, confirm_findings
from devlint.confirm.driver_process import Limits
from devlint.confirm.judgement import Judgement, Verdict
from devlint.diagnostic import (
    AssumptionKind,
    AssumptionNote,
    Confidence,
    Diagnostic,
    Note,
    Position,
    Region,
    Severity,
)

AGREES = {
    Verdict.CONFIRMED: ("true", "useless"),
    Verdict.REFUTED: ("false",),
}
"""What readers say where they agree with a verdict."""


def read_record(paths: Sequence[Path]) -> Iterator[tuple[str, Record]]:
    """Yield the repository and the line of each finding in the records."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("code") in CODES:
                yield row["repository"], row


def present(row: Record, found: Sequence[Diagnostic]) -> Diagnostic | None:
    """Return the finding of today that a line of the record is about; None if there is none."""
    same = [one for one in found if one.code == row["code"] and one.region.start.row == row["row"]]
    name = row["file"]
    return next((one for one in same if one.region.filename.endswith(name)), None)


def recorded(row: Record, root: Path) -> Diagnostic:
    """Return a finding made again from a line of the record."""
    named = re.search(r" in `([^`]+)`|`([^`]+)` reads host memory|, but `([^`]+)`", row["message"])
    operation = next((one for one in named.groups() if one), "") if named else ""
    notes = [Note(text, _region(root / name, line, "")) for text, name, line in row["trace"]]
    if row["trace"]:
        text, name, line = row["trace"][-1]
        notes[-1] = Note(text, _region(root / name, line, operation))
    kinds = [AssumptionNote(AssumptionKind(kind), "", None) for kind in row["assumptions"]]
    region = _region(root / row["file"], row["row"], operation)
    return Diagnostic(
        row["code"],
        "",
        Severity.ERROR,
        Confidence(row["confidence"]),
        row["message"],
        region,
        tuple(notes),
        assumptions=tuple(kinds),
    )


def _region(path: Path, row: int, operation: str) -> Region:
    """Return the place of an operation in a row of a file: the expression of that name, else the longest in the row."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError):
        return Region(str(path), Position(row, 1), Position(row, 1))
    inside = [one for one in ast.walk(tree) if isinstance(one, ast.expr) and row - 3 <= one.lineno <= row]
    nodes = [one for one in inside if (one.end_lineno or 0) >= row]
    named = [one for one in nodes if operation and _does(one, operation)]
    best = max(named or [one for one in nodes if one.lineno == row], key=_length, default=None)
    if best is None:
        return Region(str(path), Position(row, 1), Position(row, 1))
    end = Position(best.end_lineno or row, (best.end_col_offset or 0) + 1)
    return Region(str(path), Position(best.lineno, best.col_offset + 1), end)


def _does(node: ast.expr, operation: str) -> bool:
    """Return whether an expression is the operation that a message names: an operator or a call."""
    if isinstance(node, ast.Call):
        name = operation.strip(".").removesuffix("()").rpartition(".")[2]
        return bool(name) and ast.unparse(node.func).endswith(name)
    if isinstance(node, ast.BinOp | ast.Compare):
        return operation in ("+", "-", "*", "/", "@", "**", "&", "|", "<", ">", "<=", ">=", "==") and (
            f" {operation} " in ast.unparse(node)
        )
    return isinstance(node, ast.Subscript) and operation == "indexing"


def _length(node: ast.expr) -> int:
    return len(ast.unparse(node))


def result(repository: str, row: Record, judged: Judgement, *, today: bool) -> dict[str, Any]:
    """Return the line of the results for a finding."""
    return {
        "repository": repository,
        "file": row["file"],
        "row": row["row"],
        "code": row["code"],
        "reported_today": today,
        "readers": decided(row),
        "verdict": judged.verdict.value,
        "reason": judged.reason,
        "driver": judged.driver,
    }


def report(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the report on some results."""
    counts = Counter(one["verdict"] for one in results)
    yield f"{len(results)} findings in {len({one['repository'] for one in results})} repositories: " + ", ".join(
        f"{counts[verdict.value]} {verdict.value}" for verdict in Verdict
    )
    lacking = sum("is not installed" in one["reason"] for one in results)
    yield f"not buildable because a package is not installed: {lacking}"
    rest = len(results) - lacking
    ran = rest - (counts["not-buildable"] - lacking)
    if rest:
        yield f"of the other {rest}: {ran} built ({100 * ran / rest:.0f} %)"
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        table[one["verdict"]][one["readers"] or "undecided"] += 1
    for verdict in Verdict:
        yield f"{verdict.value:<14}" + "  ".join(
            f"{name} {count}" for name, count in sorted(table[verdict.value].items())
        )
    judged = [one for one in results if Verdict(one["verdict"]) in AGREES and one["readers"]]
    wrong = [one for one in judged if one["readers"] not in AGREES[Verdict(one["verdict"])]]
    yield f"agreement with the readers: {len(judged) - len(wrong)} of {len(judged)}"
    for one in wrong:
        place = f"{one['repository']} {one['file']}:{one['row']}"
        yield f"  {place} {one['code']}: {one['verdict']}, readers {one['readers']}"


def main() -> None:
    """Run the findings of the record in the checkouts, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+")
    parser.add_argument("--record", type=Path, nargs="+", default=[Path(__file__).parent / "first_sight.jsonl"])
    parser.add_argument("--only", nargs="+", default=[], metavar="OWNER/NAME")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--results", type=Path, help="write the results there; those that it holds are not run again")
    options = parser.parse_args()
    rows: dict[str, list[Record]] = defaultdict(list)
    for repository, row in read_record(options.record):
        rows[repository].append(row)
    results: list[dict[str, Any]] = []
    if options.results and options.results.exists():
        results = [json.loads(line) for line in options.results.read_text(encoding="utf-8").splitlines()]
    known = {one["repository"] for one in results}
    places = {one.name.replace("+", "/", 1): one for folder in options.checkouts for one in folder.iterdir()}
    for repository, found in sorted(rows.items()):
        root = places.get(repository)
        if root is None or repository in known or (options.only and repository not in options.only):
            continue
        started = time.monotonic()
        files = sorted({root / row["file"] for row in found})
        today = check_paths([one for one in files if one.exists()], isolated=True).diagnostics
        findings = [(present(row, today), row) for row in found]
        limits = ConfirmOptions(limits=Limits(options.timeout, 8192), folders=(root,))
        done = confirm_findings([one or recorded(row, root) for one, row in findings], limits)
        new = [
            result(repository, row, judged, today=one is not None)
            for (one, row), judged in zip(findings, done, strict=True)
        ]
        results += new
        print(f"{repository}: {len(new)} findings, {time.monotonic() - started:.0f} s", file=sys.stderr)
        for one in new:
            text = f"{one['file']}:{one['row']} {one['code']} {one['verdict']} ({one['readers']}): {one['reason']}"
            print(f"  {text}", file=sys.stderr)
        if options.results:
            with options.results.open("a", encoding="utf-8") as stream:
                stream.writelines(json.dumps(one) + "\n" for one in new)
    print("\n".join(report(results)))


if __name__ == "__main__":
    main()
