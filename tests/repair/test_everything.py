"""Every program there is, repaired: it parses, it is stable, what was fixed is gone and nothing came instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..fixtures.markdown import MAIN, sections
from .programs import Program, check

ROOT = Path(__file__).parents[2]
FIXTURES = [
    pytest.param(
        {block.name or MAIN: block.text.encode() for block in program},
        id=f"{path.relative_to(ROOT / 'fixtures')}:{program[0].row}",
    )
    for path in sorted((ROOT / "fixtures").rglob("*.md"))
    for section in sections(path)
    for program in section.programs
]
CASES = sorted((ROOT.parent / "shared" / "cases").glob("*/bad"))


@pytest.mark.parametrize("files", FIXTURES)
def test_a_fixture_is_repaired(files: dict[str, bytes], tmp_path: Path) -> None:
    check_both(Program(tmp_path, files))


@pytest.mark.skipif(not CASES, reason="the cases are not beside this checkout")
@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.parent.name)
def test_a_case_is_repaired(folder: Path, tmp_path: Path) -> None:
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.py"))}
    check_both(Program(tmp_path, files))


def check_both(program: Program) -> None:
    before = program.look(program.documents)
    for unsafe in (False, True):
        check(program, unsafe=unsafe, before=before)
