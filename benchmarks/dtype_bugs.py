"""Count the dtype bugs of real projects that devlint finds, and its false alarms in the repaired programs.

    python benchmarks/dtype_bugs.py [--only WORD] [-v]

`dtype_bugs/` holds a folder for each bug, as `fixtures/cases` does: `bad/` has the bug, `good/` is the same program
repaired the way the project repaired it, and `case.json` names the issue or pull request, the place and the codes that
count (`good_allows`: codes that are true of the repaired program). The script prints one row for each bug: what finds
it with every rule selected, whether that is found at default settings too, and what is reported in the repaired
program at default settings. `runtime_cases.py` runs the programs.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import devlint
from devlint.diagnostic import Diagnostic

CASES: Final = Path(__file__).parent / "dtype_bugs"
JUDGED: Final = ("DEV1", "DEV2", "DEV3", "DEV502", "DEV504")
"""Rules that must be silent in a repaired program, which may still be slower than it need be."""


@dataclass(frozen=True)
class Row:
    """What devlint reports about one bug and about its repaired twin."""

    name: str
    found: tuple[str, ...]
    by_default: tuple[str, ...]
    false_alarms: tuple[str, ...]
    elsewhere: tuple[str, ...]

    def __str__(self) -> str:
        found = ", ".join(self.found) or "missed"
        default = "" if self.by_default or not self.found else " (not by default)"
        false = f"  FALSE {', '.join(self.false_alarms)}" if self.false_alarms else ""
        return f"{self.name:36} {found}{default}{false}"


def findings_in(folder: Path, select: list[str] | None = None) -> list[Diagnostic]:
    """Return the findings in a program, without the settings of any configuration file."""
    result = devlint.check_paths([folder], select=select, isolated=True)
    if result.errors or result.problems:
        raise SystemExit(f"{folder}: {[*result.errors, *result.problems]}")
    return list(result.diagnostics)


def covers(finding: Diagnostic, case: Path, bug: dict[str, Any]) -> bool:
    """Tell whether a finding has an accepted code at an accepted place of a bug."""
    region = finding.region
    return any(
        finding.code in place["codes"]
        and Path(region.filename).resolve() == (case / place["file"]).resolve()
        and region.start.row <= place["line"] <= region.end.row
        for place in (bug, *bug.get("also", ()))
    )


def judge(case: Path) -> Row:
    """Check both programs of a case."""
    facts = json.loads((case / "case.json").read_text(encoding="utf-8"))
    (bug,) = facts["expect"]
    allowed = facts.get("good_allows", ())
    everything = findings_in(case / "bad", ["ALL"])
    default = findings_in(case / "bad")
    alarms = [one for one in findings_in(case / "good") if one.code.startswith(JUDGED) and one.code not in allowed]
    return Row(
        case.name,
        _codes(one for one in everything if covers(one, case, bug)),
        _codes(one for one in default if covers(one, case, bug)),
        tuple(_place(one) for one in alarms),
        tuple(_place(one) for one in everything if not covers(one, case, bug) and one.code.startswith(JUDGED)),
    )


def _codes(findings: Any) -> tuple[str, ...]:
    return tuple(sorted({one.code for one in findings}))


def _place(finding: Diagnostic) -> str:
    return f"{finding.code} {Path(finding.region.filename).name}:{finding.region.start.row}"


def main() -> int:
    """Judge the cases and print the rows; the exit status is 1 if a repaired program gives a false alarm."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds WORD")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what is reported elsewhere")
    given = parser.parse_args()
    rows = []
    for path in sorted(CASES.glob(f"*{given.only}*/case.json")):
        row = judge(path.parent)
        rows.append(row)
        print(row, flush=True)
        if given.verbose and row.elsewhere:
            print(f"    elsewhere: {', '.join(row.elsewhere)}")
    found, default, noisy = (
        sum(map(bool, marks)) for marks in zip(*((r.found, r.by_default, r.false_alarms) for r in rows), strict=True)
    )
    print(f"found {found} of {len(rows)}, by default {default}; {noisy} repaired programs with a false alarm")
    return int(noisy > 0)


if __name__ == "__main__":
    sys.exit(main())
