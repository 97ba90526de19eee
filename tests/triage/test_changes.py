from __future__ import annotations

from pathlib import Path

from devlint.diagnostic import Confidence, Diagnostic, Note, Position, Region, Severity
from devlint.triage.changes import Rows, concerned


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

    def kept(rows: Rows) -> bool:
        found = concerned([caused], {Path("b.py"): [rows]}, lambda name, cell: ["x"], Path, lambda region: region)
        return bool(list(found))

    assert kept(Rows(7, 7))
    assert kept(Rows(1, 9))
    assert not kept(Rows(1, 6))
    assert not kept(Rows(8, 9))
