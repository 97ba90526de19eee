from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "gallery"))

from gallery_bug import entry_at, entry_paths
from gallery_document import PAGE, document
from gallery_imports import module, stand_in

PATHS = entry_paths()


def test_the_page_says_what_the_entries_say():
    assert PAGE.read_text(encoding="utf-8") == document(), "run `python benchmarks/gallery CHECKOUTS --write`"


def test_there_are_at_least_fifty_bugs_and_none_twice():
    bugs = [entry_at(path) for path in PATHS]
    assert len({(bug.project, bug.file, bug.row) for bug in bugs}) == len(bugs) >= 50


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_an_entry_can_be_looked_up(path):
    bug = entry_at(path)
    assert bug.code.startswith("DEV") and bug.row > 0 and bug.what.endswith((".", ")."))
    assert "/" not in bug.project or len(bug.commit) == 40


def test_a_missing_library_is_stood_in_for(tmp_path, monkeypatch):
    (tmp_path / "project_of_the_gallery.py").write_text(
        "import absent_library.part as part\n\n\n"
        "class Layer(part.Base[int]):\n    @part.checked(strict=True)\n    def one(self):\n        return 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    stand_in("absent_library", "json")
    assert module("project_of_the_gallery").Layer("any", argument=1).one() == 1
    assert module("json").loads("[1]") == [1]
