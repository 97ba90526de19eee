from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from runtime_bugs import as_bug, entry_text, recorded

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "gallery"))

from gallery_bug import entry_at, entry_paths

ROWS = recorded()


def test_no_bug_is_recorded_twice_or_is_in_the_gallery():
    places = {(row["project"], row["file"], row["row"], row["what"]) for row in ROWS}
    assert len(places) == len(ROWS) > 30
    shown = {(bug.project, bug.file, bug.row) for bug in map(entry_at, entry_paths())}
    assert not shown & {(row["project"], row["file"], row["row"]) for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['project']}-{row['row']}")
def test_a_bug_says_all_that_is_needed_to_see_it(row, tmp_path):
    path = tmp_path / "bug.py"
    path.write_text(entry_text(row), encoding="utf-8")
    assert entry_at(path) == as_bug(row)
    names = [node.name for node in ast.parse(row["driver"]).body if isinstance(node, ast.FunctionDef)]
    assert names == ["show"] and row["what"].endswith(".") and row["error"] and row["seen"]
