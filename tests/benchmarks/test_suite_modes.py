"""Tests of the results of the test suites of packages: what is committed was read, and the readings are used."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from suite_modes import KINDS, MODES, READINGS, known_readings, reading_of, table

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RESULTS = BENCHMARKS / "suite_modes.jsonl"
BUGS = BENCHMARKS / "suite_bugs.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_new_failure_was_read_and_none_is_a_mended_defect() -> None:
    printed = list(table(RESULTS))
    assert not [line for line in printed if line.startswith("unread")]
    kinds = {
        one["kind"]
        for record in lines(RESULTS)
        for mode in MODES
        for failure in record[mode]["new"]
        if (one := reading_of(record["repository"], mode, failure, known_readings()))
    }
    assert kinds <= {"bug", "mode", "limit"}


def test_readings_are_complete() -> None:
    for one in lines(READINGS):
        assert one["kind"] in KINDS and one["what"] and one["error"] and one["mode"] in ("", *MODES)


def test_a_bug_that_suites_show_is_in_the_list_of_bugs() -> None:
    listed = {one["project"] for one in lines(BUGS)}
    assert {one["repository"] for one in lines(READINGS) if one["kind"] == "bug"} <= listed
    for one in lines(BUGS):
        assert {"project", "commit", "file", "row", "what", "error", "seen", "check"} <= set(one)


@pytest.mark.parametrize(
    ("failure", "found"),
    [
        ({"error": "RuntimeError: same device", "place": "net.py:3", "test": "test_a"}, True),
        ({"error": "RuntimeError: same device", "place": "other.py:3", "test": "test_a"}, False),
        ({"error": "ValueError: device", "place": "net.py:3", "test": "test_a"}, False),
    ],
)
def test_a_reading_is_found_by_error_and_place(failure: dict[str, str], found: bool) -> None:
    reading = {"repository": "a/b", "mode": "", "error": "same device", "place": "net.py", "kind": "bug", "what": "it"}
    assert (reading_of("a/b", "move", failure, [reading]) is reading) == found
    assert reading_of("a/c", "move", failure, [reading]) is None
    assert reading_of("a/b", "move", failure, [{**reading, "mode": "emulated"}]) is None


def test_the_table_names_what_nobody_has_read(tmp_path: Path) -> None:
    counts = {"passed": 2, "failed": 1}
    seen = {**counts, "functions": 4, "functions_on_device": 3}
    failure = {"error": "RuntimeError: no", "place": "net.py:3", "test": "test_a"}
    record = {"repository": "nobody/net", "commit": "0123456789", "subject": "graph", "alone": {"passed": 3}}
    results = tmp_path / "results.jsonl"
    results.write_text(json.dumps({**record, "emulated": {**counts, "new": []}, "move": {**seen, "new": [failure]}}))
    printed = list(table(results))
    row = "| graph | nobody/net 01234567 | 3 passed, 0 failed | 2 passed, 1 failed | none |"
    assert printed[2] == f"{row} 2 passed, 1 failed | 3 of 4 functions | 1 unread |"
    assert printed[-1] == "unread: nobody/net move test_a net.py:3: RuntimeError: no"
