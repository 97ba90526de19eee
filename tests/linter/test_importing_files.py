"""Which files import a file, or may do so, and how many pairs of files are compared for that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from devlint.interpreter.program.program import Program
from devlint.linter.importing_files import ImportingFiles

HOMES = {
    "pkg/__init__.py": "",
    "pkg/part.py": "VALUE = 1\n",
    "pkg/other/part.py": "VALUE = 2\n",
    "alone.py": "",
    "my-script.py": "",
}
CASES = {
    "an import": ("import alone\n", {"alone.py"}),
    "an import of a name": ("from pkg.part import VALUE\n", {"pkg/part.py"}),
    "an import in a function": (
        "def f():\n    from pkg import part\n",
        {"pkg/__init__.py", "pkg/part.py", "pkg/other/part.py"},
    ),
    "an import that leads nowhere": ("from somewhere.other import part\n", set()),
    "an import that may lead there": ("from other.part import VALUE\n", {"pkg/other/part.py"}),
    "a name in a text": ("load('pkg.part')\n", {"pkg/__init__.py", "pkg/part.py", "pkg/other/part.py"}),
    "a name after a colon in a text": ("entry = 'pkg:alone'\n", {"pkg/__init__.py", "alone.py"}),
    "a dotted name": ("import pkg\npkg.part.VALUE\n", {"pkg/__init__.py", "pkg/part.py"}),
    "a dotted name of something else": ("self.part.VALUE\n", set()),
    "a file whose name is no word": ("run('my-script')\n", {"my-script.py"}),
    "a word": ("alone = part = 1\n", set()),
    "a word in a text": ("print('leave it alone')\n", set()),
    "a comment": ("# import alone\n", set()),
}


def _importing(folder: Path, files: Mapping[str, str]) -> tuple[ImportingFiles, Program]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    program = Program([(folder / name, name) for name in files])
    modules = [one for path in program.given_paths if (one := program.load(path)) is not None]
    return ImportingFiles(program, modules), program


@pytest.mark.parametrize(("text", "homes"), CASES.values(), ids=CASES.keys())
def test_the_files_that_a_file_imports(tmp_path: Path, text: str, homes: set[str]) -> None:
    importing, program = _importing(tmp_path, {**HOMES, "user.py": text})
    loaded = {name: program.load((tmp_path / name).resolve()) for name in (*HOMES, "user.py")}
    user = loaded["user.py"]
    assert user is not None
    assert {one.filename for one in importing.imported_by(user)} == homes
    for name in HOMES:
        home = loaded[name]
        assert home is not None
        assert (user in importing.of_file(home)) == (name in homes)


def test_a_package_that_is_named_by_dots_only(tmp_path: Path) -> None:
    importing, program = _importing(tmp_path, {"pkg/__init__.py": "", "pkg/user.py": "from . import thing\n"})
    package, user = (program.load((tmp_path / "pkg" / name).resolve()) for name in ("__init__.py", "user.py"))
    assert package is not None
    assert importing.of_file(package) == [package, user]


def test_only_files_that_name_each_other_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred files with a chain of imports: a hundred pairs, not ten thousand."""
    files = {f"m{number}.py": f"import m{number + 1}\nx = 1\n" for number in range(100)}
    importing, program = _importing(tmp_path, files)
    compared = []
    may_import = ImportingFiles._may_import
    monkeypatch.setattr(
        ImportingFiles, "_may_import", lambda self, *pair: compared.append(pair) or may_import(self, *pair)
    )
    for _ in range(2):
        for path in program.given_paths:
            module = program.load(path)
            assert module is not None
            assert len(importing.of_file(module)) <= 2
    assert len(compared) == 99
