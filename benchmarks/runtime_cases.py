"""Check that `devlint run` shows the bug of known buggy programs, and shows nothing in their repaired twins.

    python benchmarks/runtime_cases.py CASES [--device emulated|cuda] [--only WORD]

CASES holds a folder for each bug: `bad/main.py`, `good/main.py` and `case.json`, which describes the symptom of the
bug. A bug is shown if the program raises the exception that it raises on CUDA, or if one of the bug's codes is
confirmed or observed. A repaired program is clean if it ends without an error and shows no finding of the rules about
placement, lost transfers, dtypes and unsafe asynchronous copies. The script prints one row for each case, and the
misses by name; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JUDGED = ("DEV1", "DEV2", "DEV3", "DEV502", "DEV504")
SEEN = ("confirmed", "observed")


@dataclass(frozen=True)
class ProgramRun:
    """The outcome of one program under `devlint run`: its exit status, output and verdicts."""

    status: int
    stderr: str
    seen: dict[str, str]
    refuted: set[str]

    @property
    def last_line(self) -> str:
        """The last line of the error output, which names the exception."""
        return (self.stderr.strip().splitlines() or [""])[-1]


def run_program(folder: Path, device: str) -> ProgramRun:
    """Run one program under `devlint run`, in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "report.json"
        options = ["--device", device, "--isolated", "--output-format", "json", "--output", str(output)]
        done = subprocess.run(
            [sys.executable, "-m", "devlint", "run", *options, "main.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        findings = json.loads(output.read_text(encoding="utf-8"))["findings"] if output.exists() else []
    ranked = sorted(findings, key=lambda found: SEEN[::-1].index(found["verdict"]) if found["verdict"] in SEEN else -1)
    seen = {found["code"]: found["verdict"] for found in ranked if found["verdict"] in SEEN}
    return ProgramRun(done.returncode, done.stderr, seen, {f["code"] for f in findings if f["verdict"] == "refuted"})


def shown_symptoms(facts: dict[str, Any], bad: ProgramRun) -> tuple[str, str]:
    """Return the symptoms by which a run shows the bug, and a description of a missing symptom (empty if none)."""
    accepted = {code for bug in facts["expect"] for place in (bug, *bug.get("also", ())) for code in place["codes"]}
    by = sorted(f"{code} {bad.seen[code]}" for code in accepted & bad.seen.keys())
    if facts["symptom"].startswith("raises"):
        if not re.search(facts["error"], bad.stderr):
            return ", ".join(by), f"does not raise {facts['error']!r}: {bad.last_line}"
        by.insert(0, "raises")
    return ", ".join(by), "" if by else f"none of {', '.join(sorted(accepted))} is seen"


def false_alarm(facts: dict[str, Any], good: ProgramRun) -> str:
    """Return what is wrong with the run of a repaired program; empty if nothing is."""
    if good.status:
        return f"ends with {good.status}: {good.last_line}"
    alarms = {code for code in good.seen if code.startswith(JUDGED)} - set(facts.get("good_allows", ()))
    return f"shows {', '.join(sorted(alarms))}" if alarms else ""


@dataclass(frozen=True)
class Row:
    """The row of one case: the symptoms shown by the buggy program, and the misses of both programs."""

    name: str
    family: str
    by: str
    missing: str
    alarm: str
    refuted: set[str]

    def __str__(self) -> str:
        refuted = f"; refuted: {', '.join(sorted(self.refuted))}" if self.refuted else ""
        good = "alarm" if self.alarm else "clean"
        return f"{self.name:32} {self.family:7} {good:6} {self.by or 'MISSED'}{refuted}"

    @property
    def misses(self) -> list[str]:
        """The misses of the case, one line each."""
        misses = (("bad", self.missing), ("good", self.alarm))
        return [f"miss: {self.name}/{variant}: {text}" for variant, text in misses if text]


def run_case(folder: Path, facts: dict[str, Any], device: str) -> Row:
    """Run both programs of a case and judge them."""
    bad, good = (run_program(folder / variant, device) for variant in ("bad", "good"))
    by, missing = shown_symptoms(facts, bad)
    return Row(folder.name, facts["family"], by, missing, false_alarm(facts, good), bad.refuted)


def main() -> int:
    """Run the cases; print the table and the misses."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--device", default="emulated", choices=("emulated", "cuda"))
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds WORD")
    given = parser.parse_args()
    print(f"{'case':32} {'family':7} {'good':6} bad")
    rows = []
    for path in sorted(given.cases.glob(f"*{given.only}*/case.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["runtime"]:
            rows.append(run_case(path.parent, facts, given.device))
            print(rows[-1], flush=True)
    bad, good = (sum(not text for text in texts) for texts in ((r.missing for r in rows), (r.alarm for r in rows)))
    print(f"\n{bad} of {len(rows)} bugs shown, {good} of {len(rows)} repaired programs clean ({given.device})")
    misses = [miss for row in rows for miss in row.misses]
    print(*misses, sep="\n")
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())
