"""What `devlint run` shows of programs with a known bug, and of their repaired twins.

    python benchmarks/runtime_cases.py CASES [--device emulated|cuda] [--only WORD]

CASES holds a folder for each bug: `bad/main.py`, `good/main.py` and `case.json`, which says how the bug shows. A bug
is shown when the program raises what it raises on CUDA, or when one of the bug's codes is confirmed or observed; a
repaired program is clean when it ends well and nothing is seen of the rules about placement, lost transfers, dtypes and
unsafe asynchronous copies. One row each, and the misses by name; the exit status is 1 if there are any.
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
class Played:
    """How a program ended under `devlint run`, and what was seen of it."""

    status: int
    stderr: str
    seen: dict[str, str]
    refuted: set[str]

    @property
    def last_line(self) -> str:
        """The line of the exception."""
        return (self.stderr.strip().splitlines() or [""])[-1]


def played(folder: Path, device: str) -> Played:
    """Run one program in a process of its own."""
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
    return Played(done.returncode, done.stderr, seen, {f["code"] for f in findings if f["verdict"] == "refuted"})


def shown(facts: dict[str, Any], bad: Played) -> tuple[str, str]:
    """How the bug shows, and what is missing."""
    accepted = {code for bug in facts["expect"] for place in (bug, *bug.get("also", ())) for code in place["codes"]}
    by = sorted(f"{code} {bad.seen[code]}" for code in accepted & bad.seen.keys())
    if facts["symptom"].startswith("raises"):
        if not re.search(facts["error"], bad.stderr):
            return ", ".join(by), f"does not raise {facts['error']!r}: {bad.last_line}"
        by.insert(0, "raises")
    return ", ".join(by), "" if by else f"none of {', '.join(sorted(accepted))} is seen"


def unclean(facts: dict[str, Any], good: Played) -> str:
    """What is wrong with the run of a repaired program."""
    if good.status:
        return f"ends with {good.status}: {good.last_line}"
    alarms = {code for code in good.seen if code.startswith(JUDGED)} - set(facts.get("good_allows", ()))
    return f"shows {', '.join(sorted(alarms))}" if alarms else ""


@dataclass(frozen=True)
class Row:
    """One case: how its bug shows, and what went wrong with either program."""

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
        """What went wrong, in words."""
        told = (("bad", self.missing), ("good", self.alarm))
        return [f"miss: {self.name}/{variant}: {text}" for variant, text in told if text]


def judged(folder: Path, facts: dict[str, Any], device: str) -> Row:
    """Run both programs of a case."""
    bad, good = (played(folder / variant, device) for variant in ("bad", "good"))
    by, missing = shown(facts, bad)
    return Row(folder.name, facts["family"], by, missing, unclean(facts, good), bad.refuted)


def main() -> int:
    """Print the table and the misses."""
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
            rows.append(judged(path.parent, facts, given.device))
            print(rows[-1], flush=True)
    bad, good = (sum(not text for text in texts) for texts in ((r.missing for r in rows), (r.alarm for r in rows)))
    print(f"\n{bad} of {len(rows)} bugs shown, {good} of {len(rows)} repaired programs clean ({given.device})")
    misses = [miss for row in rows for miss in row.misses]
    print(*misses, sep="\n")
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())
