"""Run a test suite by itself, under `pytest --devlint` and under `pytest --devlint=move`, and compare test by test.

A *new failure* is a test that fails in a mode of devlint and not by itself: it passed, was skipped, or was not there.
If it fails by itself when the new failures are run once more, it fails by chance and does not count. Each new
failure is looked up among the readings: a line tells what the failures of a suite with some error at some place are. It
holds `repository`, `mode` (or "" for both), `error` (a part of the message), `place` (a part of the innermost line of
the checkout, which may be left out), `test` (a part of its name, likewise), `kind`, and `what` happens.

Kinds: "bug" (of the package or its tests: it happens on a real accelerator too), "mode" (the test means the host: it
gives NumPy a tensor, or names the host for some of its tensors only), "limit" (documented) and "mended" (a defect of
devlint that is repaired now; such a failure must not come back).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from suite_list import Suite
from suite_processes import interrupted_at, last_line

Record = dict[str, Any]
"""One line of the results: a suite with what its tests did in each mode."""

ALONE: Final = "alone"
EMULATED: Final = "emulated"
MOVE: Final = "move"
MODES: Final = (EMULATED, MOVE)
PYTEST: Final = (
    *("-m", "pytest", "-q", "--timeout=600", "-p", "no:cacheprovider", "-p", "suite_outcomes", "--tb=short"),
    "--color=no",
)
PLUGIN: Final = Path(__file__).with_name("suite_plugin")
READINGS: Final = Path(__file__).with_name("suites_read.jsonl")
KINDS: Final = ("bug", "mode", "limit", "mended")
FAILED: Final = "failed"
HEADINGS: Final = (
    *("subject", "suite", "by itself", "`--devlint`", "on the device", "`--devlint=move`", "on the device"),
    "new failures",
)
WORST: Final = ("passed", "skipped", "xfailed", FAILED)
"""The outcomes; if a test has several, by its set-up or its parts, the last of them counts."""


@dataclass(frozen=True)
class ModeRun:
    """What one run of a suite did: the last report of each test, pytest's last line, and the device coverage."""

    tests: Mapping[str, Record]
    last_line: str
    coverage: Mapping[str, int]

    def outcome(self, test: str) -> str:
        """Return how a test ended, or "absent"."""
        return str(self.tests[test]["outcome"]) if test in self.tests else "absent"

    @property
    def counts(self) -> Record:
        """Return how many tests passed, failed and were skipped."""
        return dict(Counter(one["outcome"] for one in self.tests.values()))


def compare_modes(
    suite: Suite, checkouts: Path, seconds: int, outputs: Path | None, modes: Sequence[str], known: Record
) -> Record:
    """Run one suite in some modes, and return its line of the results; what is `known` of the other modes stays."""
    note = checkouts / f"{suite.folder}.commit"
    commit = note.read_text().strip() if note.exists() else ""
    record: Record = {
        **known,
        "repository": suite.repository,
        "commit": commit,
        "subject": suite.subject,
        "tests": list(suite.tests),
    }
    if ALONE in modes or ALONE not in known:
        alone = run_mode(suite, suite.tests, checkouts, seconds, ALONE, outputs)
        failing = sorted(test for test in alone.tests if alone.outcome(test) == FAILED)
        record[ALONE] = {**alone.counts, "failing": failing, "end": alone.last_line}
    for mode in MODES:
        if mode in modes:
            run = run_mode(suite, suite.tests, checkouts, seconds, mode, outputs)
            fresh = [one for test, one in sorted(run.tests.items()) if run.outcome(test) == FAILED]
            new = [
                {key: one[key] for key in ("test", "error", "place")}
                for one in fresh
                if one["test"] not in record[ALONE]["failing"]
            ]
            unemulated = sum("not emulated" in one.get("error", "") for one in run.tests.values())
            record[mode] = {**run.counts, "not_emulated": unemulated, **run.coverage, "new": new, "end": run.last_line}
    doubted = sorted({one["test"].partition(" [")[0] for mode in MODES for one in record[mode]["new"]})
    if doubted:
        again = run_mode(suite, doubted, checkouts, seconds, ALONE, None)
        record["chance"] = [test for test in doubted if again.outcome(test) == FAILED]
        for mode in MODES:
            record[mode]["new"] = [one for one in record[mode]["new"] if one["test"] not in record["chance"]]
    return record


def run_mode(
    suite: Suite, tests: Sequence[str], checkouts: Path, seconds: int, mode: str, outputs: Path | None
) -> ModeRun:
    """Run tests of a suite by themselves or under `pytest --devlint=MODE`; what pytest prints goes into `outputs`."""
    home = (checkouts / suite.folder).resolve()
    asking, options = (suite.environment, suite.options) if mode == EMULATED else ({}, ())
    path = [str(home / suite.root), str(home), str(PLUGIN), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory() as folder:
        report, outcomes = Path(folder, "report.json"), Path(folder, "outcomes.jsonl")
        environment = {
            **os.environ,
            **suite.needed,
            **asking,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "SUITE_OUTCOMES": str(outcomes),
        }
        command = [sys.executable, "-P", *PYTEST]
        if mode != ALONE:
            command += [f"--devlint={mode}", "--devlint-no-lint", "--devlint-report", str(report)]
        output = interrupted_at(seconds, [*command, *suite.always, *options, *tests], home, environment)
        seen: Record = json.loads(report.read_text()) if report.exists() else {"device_coverage": {}}
        lines = outcomes.read_text().splitlines() if outcomes.exists() else []
    if outputs is not None:
        outputs.mkdir(parents=True, exist_ok=True)
        (outputs / f"{suite.folder}.{mode}.txt").write_text(output, encoding="utf-8")
    coverage = {name: value for name, value in seen["device_coverage"].items() if isinstance(value, int)}
    return ModeRun(_worst(map(json.loads, lines)), last_line(output), coverage)


def _worst(lines: Iterable[Record]) -> dict[str, Record]:
    """Return the line of each test; the worst if its set-up or its end has one as well."""
    tests: dict[str, Record] = {}
    for line in lines:
        known = tests.get(line["test"])
        if known is None or WORST.index(line["outcome"]) > WORST.index(known["outcome"]):
            tests[line["test"]] = line
    return tests


def known_readings() -> list[Record]:
    """Return the lines of the readers."""
    return [json.loads(line) for line in READINGS.read_text().splitlines()] if READINGS.exists() else []


def reading_of(repository: str, mode: str, failure: Mapping[str, str], readings: Sequence[Record]) -> Record | None:
    """Return the first reading that tells what a new failure is."""
    for one in readings:
        parts = all(one.get(key, "") in failure[key] for key in ("error", "place", "test"))
        if one["repository"] == repository and one["mode"] in ("", mode) and parts:
            return one
    return None


def table(results: Path) -> Iterator[str]:
    """Yield the Markdown table of the suites, a line of totals, and each new failure that nobody has read."""
    records = [json.loads(line) for line in results.read_text().splitlines()]
    readings = known_readings()
    yield f"| {' | '.join(HEADINGS)} |"
    yield "|---" * len(HEADINGS) + "|"
    kinds, unread = Counter[str](), []
    for record in records:
        mine = Counter[str]()
        for mode in MODES:
            for failure in record[mode]["new"]:
                reading = reading_of(record["repository"], mode, failure, readings)
                mine["unread" if reading is None else reading["kind"]] += 1
                if reading is None:
                    where = f"{record['repository']} {mode} {failure['test']} {failure['place']}"
                    unread.append(f"unread: {where}: {failure['error']}")
        kinds += mine
        cells = [record["subject"], f"{record['repository']} {record['commit'][:8]}", _counted(record[ALONE])]
        for mode in MODES:
            cells += [_counted(record[mode]), _covered(record[mode])]
        yield f"| {' | '.join([*cells, _kinds(mine)])} |"
    yield ""
    tests = sum(one[ALONE].get(outcome, 0) for one in records for outcome in WORST)
    yield f"{len(records)} suites, {tests} tests by themselves; new failures: {_kinds(kinds)}"
    yield from unread


def _counted(counts: Mapping[str, int]) -> str:
    """Return how many tests passed and failed, and how many were skipped because something is not emulated."""
    text = f"{counts.get('passed', 0)} passed, {counts.get(FAILED, 0)} failed"
    return f"{text}, {counts['not_emulated']} not emulated" if counts.get("not_emulated") else text


def _covered(counts: Mapping[str, int]) -> str:
    """Return the device coverage: functions that had tensors on the accelerator, of those that ran operators."""
    ran = counts.get("functions", 0)
    return f"{counts['functions_on_device']} of {ran} functions" if ran else "none"


def _kinds(counts: Mapping[str, int]) -> str:
    """Return the numbers of new failures by kind."""
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())) or "none"
