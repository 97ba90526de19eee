from __future__ import annotations

from pathlib import Path

from devlint.diagnostic import Confidence, Diagnostic, Note, Position, Region, Severity
from devlint.triage.git_changes import RowRange, findings_in_changes


def region(filename: str, row: int) -> Region:
    return Region(filename, Position(row, 1), Position(row, 2))


def test_a_finding_whose_cause_in_another_file_has_changed_is_kept():
    caused = Diagnostic(
        "DEV101",
        "mixed-device-op",
        Severity.ERROR,
        Confidence.CERTAIN,
        "no",
        region("a.py", 1),
        trace=(Note("made here", region("b.py", 7)),),
    )

    def kept(rows: RowRange) -> bool:
        found = findings_in_changes(
            [caused], {Path("b.py"): [rows]}, lambda name, cell: ["x"], Path, lambda region: region
        )
        return bool(list(found))

    assert kept(RowRange(7, 7))
    assert kept(RowRange(1, 9))
    assert not kept(RowRange(1, 6))
    assert not kept(RowRange(8, 9))
