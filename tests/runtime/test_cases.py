"""Tests of every runnable case: the emulated device shows the bug, and the repaired program runs clean."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from devlint.diagnostic import Confidence, Diagnostic, Note, Position, Region, Severity
from devlint.runtime import Report, emulate, record
from devlint.runtime.configured_linter import ConfiguredLinter
from devlint.runtime.line_coverage import LineCoverage

ROOT = Path(__file__).parents[3] / "shared" / "cases"
CASES = {
    path.parent.name: facts
    for path in sorted(ROOT.glob("*/case.json"))
    if (facts := json.loads(path.read_text(encoding="utf-8")))["runtime"]
}
JUDGED = ("DEV1", "DEV2", "DEV3", "DEV502", "DEV504")
BY_STATIC_FINDING = {
    "bayesian-conv-sampling": "that an array comes from a random generator is not seen in its bytes",
    "rope-table-forward-move": "a transfer that moves nothing is right in code that does not know its device",
    "sequence-output-scalars": "a loop that waits is reported where it trains, and this one generates",
}
"""Cases whose bug a run shows only by confirming the static finding, with the reason."""

pytestmark = pytest.mark.skipif(not CASES, reason="the cases are not beside this checkout")


Verdicts = list[tuple[str, str]]


def played(case: str, variant: str) -> tuple[str, set[str], Verdicts, list[tuple[str, str, str]]]:
    """Run a case and return the exception (or nothing), the observed codes, and the verdicts.

    The first verdicts are on the findings that the case expects, the second on those that devlint makes.
    """
    folder = ROOT / case / variant
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = ["main.py"]
    error = ""
    lines = LineCoverage()
    with contextlib.redirect_stdout(io.StringIO()), emulate(), lines:
        try:
            with record() as report:
                runpy.run_path(str(folder / "main.py"), run_name="__main__")
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    codes = {outcome.diagnostic.code for outcome in report.outcomes}
    report.ran = frozenset(lines.ran)
    report.findings = [finding for bug in CASES[case]["expect"] for finding in expected(case, bug)]
    return error, codes, verdicts(report), judged(case, report, lines.files)


def judged(case: str, report: Report, files: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the verdicts on the expected findings that devlint itself makes."""
    wanted = {
        (str(ROOT / case / place["file"]), place["line"], code)
        for bug in CASES[case]["expect"]
        for place in (bug, *bug.get("also", ()))
        for code in place["codes"]
    }
    found = ConfiguredLinter(isolated=True).findings(files)
    report.findings = [one for one in found if (one.region.filename, one.region.start.row, one.code) in wanted]
    return [
        (outcome.diagnostic.code, outcome.verdict.value, outcome.detail)
        for outcome in report.outcomes
        if outcome.verdict.value != "observed"
    ]


def expected(case: str, bug: dict[str, Any]) -> list[Diagnostic]:
    """Return static findings as devlint would make them, one for each accepted code."""

    def region(place: dict[str, Any]) -> Region:
        file, row = ROOT / case / place["file"], place["line"]
        start = file.read_text(encoding="utf-8").splitlines()[row - 1].index(place["contains"]) + 1
        return Region(str(file), Position(row, start), Position(row, start + len(place["contains"])))

    trace = tuple(Note(place["contains"], region(place)) for place in bug.get("also", ()))
    return [
        Diagnostic(code, code.lower(), Severity.ERROR, Confidence.CERTAIN, bug["contains"], region(bug), trace)
        for code in bug["codes"]
    ]


def verdicts(report: Report) -> list[tuple[str, str]]:
    return [(outcome.diagnostic.code, outcome.verdict.value) for outcome in report.outcomes]


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Import and compute beforehand what every child process would otherwise do for itself."""
    with emulate():
        parameter = torch.nn.Parameter(torch.zeros(2, device="cuda"))
        torch.optim.Adam([parameter]).step()


@pytest.mark.parametrize("case", CASES)
def test_the_bug_shows_and_confirms_the_finding(case: str, forked: Any) -> None:
    facts = CASES[case]
    error, codes, found, own = forked(lambda: played(case, "bad"))
    accepted = {code for bug in facts["expect"] for place in [bug, *bug.get("also", [])] for code in place["codes"]}
    if facts["symptom"].startswith("raises"):
        assert re.search(facts["error"], error), error
        assert codes
    elif case in BY_STATIC_FINDING:
        assert not error and not codes & accepted
    else:
        assert not error
        assert codes & accepted
    confirmed = [code for code, verdict, *_ in own or found if verdict == "confirmed"]
    assert set(confirmed) & accepted, own or found
    assert not any(verdict == "refuted" for _, verdict, _ in own), own


@pytest.mark.parametrize("case", CASES)
def test_the_repaired_program_runs_clean(case: str, forked: Any) -> None:
    error, codes, _, _ = forked(lambda: played(case, "good"))
    assert not error
    assert not {code for code in codes if code.startswith(JUDGED)} - set(CASES[case].get("good_allows", ()))
