from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from dtype_bugs import CASES, judge

FOLDERS = sorted(path.parent for path in CASES.glob("*/case.json"))


def test_there_are_forty_bugs_of_different_sources() -> None:
    sources = {json.loads((folder / "case.json").read_text())["source"]["url"] for folder in FOLDERS}
    assert len(FOLDERS) == len(sources) == 40


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_case_points_at_its_lines(folder: Path) -> None:
    (bug,) = json.loads((folder / "case.json").read_text())["expect"]
    for place in (bug, *bug.get("also", ())):
        assert place["contains"] in (folder / place["file"]).read_text().splitlines()[place["line"] - 1]


def test_a_found_bug_and_its_repaired_twin_are_told_apart() -> None:
    row = judge(CASES / "video-timestep-long")
    assert row.found == row.by_default == ("DEV302",)
    assert row.false_alarms == ()
