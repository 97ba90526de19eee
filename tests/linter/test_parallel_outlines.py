"""Files that several processes outline have the index that one process makes; what none of them sends is parsed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devlint.cache.store import Store
from devlint.interpreter.program.program import Program
from devlint.linter import parallel_outlines
from devlint.linter.parallel_outlines import outline_in_processes
from devlint.linter.program_analysis import analyse_files
from devlint.linter.stored_indexes import StoredIndexes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")

FILES = {
    "one.py": '"""Documentation."""\nimport os.path as path, sys\nfrom . import two as other\n\n\n'
    "@path.join\nclass A(B.C):\n    def f(self):\n        global g\n        g = self.x\n",
    "two.py": "def f(x): return x\n\n\nif f:\n    y: int = 3\nelse:\n    from math import *\n",
    "newer.py": "def f[T](x: T) -> T:\n    return x\n",
    "broken.py": "def f(:\n",
    "texts.py": 'é = "\\ud800"; b = 1\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(parallel_outlines, "_CHARACTERS_FOR_A_FORK", 10)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def _program(folder: Path, reader: StoredIndexes | None = None) -> Program:
    return Program([(path, path.name) for path in sorted(folder.glob("*.py"))], reader=reader)


def _indexes(program: Program) -> dict[str, object]:
    """What the indexes of a program's files hold, by the names of the files; None for those that cannot be parsed."""
    found: dict[str, object] = {}
    for path in program.given_paths:
        module = program.load(path)
        found[path.name] = module and [
            module.index.docstring,
            module.index.newer_grammar,
            *((one.facts, one.first_row, one.last_row, one.start, one.end) for one in module.index.statements),
        ]
    return found


def _noting(kept: list[Path]) -> Callable[..., None]:
    """A method that keeps an outline and notes its file."""
    keep = Program.keep_outline

    def note(program: Program, path: Path, outline: object) -> None:
        kept.append(path)
        keep(program, path, outline)  # type: ignore[arg-type]

    return note


def test_outlines_of_other_processes_give_the_same_indexes(folder: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[Path] = []
    monkeypatch.setattr(Program, "keep_outline", _noting(kept))
    shared = _program(folder)
    outline_in_processes(shared, 5)
    alone = _program(folder)
    assert kept
    assert _indexes(shared) == _indexes(alone)
    assert shared.broken_files.keys() == alone.broken_files.keys() == {folder / "broken.py"}


def test_a_file_of_which_no_outline_arrives_is_parsed(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel_outlines, "outline_source", lambda source: os._exit(3))
    shared = _program(folder)
    outline_in_processes(shared, 5)
    assert _indexes(shared) == _indexes(_program(folder))


def test_files_with_a_stored_index_are_not_outlined(folder: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[Path] = []
    monkeypatch.setattr(Program, "keep_outline", _noting(kept))
    store = Store(folder / "cache")
    first = _program(folder, reader := StoredIndexes(store, {}))
    for path in first.given_paths:
        module = first.load(path)
        if module is not None and path.name not in ("one.py", "two.py"):
            assert reader.facts(module) is not None
    again = _program(folder, StoredIndexes(store, {}))
    for path in again.given_paths:
        again.source(path)
    unknown = [path.name for path in again.given_paths if again.is_to_be_indexed(path)]
    assert unknown == ["broken.py", "one.py", "two.py"]
    outline_in_processes(again, 5)
    # This process outlines the largest file itself.
    assert [path.name for path in kept] == ["two.py"]
    assert _indexes(again) == _indexes(_program(folder))


def test_where_the_largest_index_is_stored_no_process_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch):
    store = Store(folder / "cache")
    first = _program(folder, reader := StoredIndexes(store, {}))
    module = first.load(folder / "one.py")
    assert module is not None and reader.facts(module) is not None
    monkeypatch.setattr(parallel_outlines, "_shares", lambda *given: pytest.fail("shares are made"))
    again = _program(folder, StoredIndexes(store, {}))
    outline_in_processes(again, 5)
    assert _indexes(again) == _indexes(_program(folder))


def test_a_small_program_starts_no_process_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch):
    kept: list[Path] = []
    monkeypatch.setattr(Program, "keep_outline", _noting(kept))
    monkeypatch.setattr(parallel_outlines, "_CHARACTERS_FOR_A_FORK", 1_000)
    outline_in_processes(_program(folder), 5)
    monkeypatch.setattr(parallel_outlines, "_CHARACTERS_FOR_A_FORK", 10)
    outline_in_processes(_program(folder), 1)
    assert not kept


def test_findings_do_not_depend_on_who_outlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parallel_outlines, "_CHARACTERS_FOR_A_FORK", 10)
    (tmp_path / "shared.py").write_text("import torch\nHOST = torch.ones(3)\n")
    bug = "import torch\nfrom shared import HOST\n\n\ndef f():\n    return torch.ones(3, device='cuda') + HOST\n"
    for number in range(4):
        (tmp_path / f"m{number}.py").write_text(bug)
    paths = sorted(tmp_path.glob("*.py"))
    reports = [analyse_files(paths, codes=frozenset({"DEV101"}), src=[tmp_path], jobs=jobs) for jobs in (1, 3)]
    assert len(reports[0].diagnostics) == 4
    assert reports[0].diagnostics == reports[1].diagnostics
