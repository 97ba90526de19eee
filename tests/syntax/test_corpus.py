"""Real files: every statement is found, whole, and its tree gives its lines back."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.syntax.index import index_source
from devlint.syntax.line_starts import NEWLINE
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import read_source

from .corpus import CORPUS


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_statements_and_the_lines_between_them_make_up_the_file(path: Path) -> None:
    source = read_source(path)
    index = index_source(source)
    end = 0
    for statement in index.statements:
        assert is_empty(source.text[end : statement.start])
        assert index.lines.position(statement.start).row == statement.first_row
        assert index.lines.position(statement.end - 1).row == statement.last_row
        end = statement.end
        try:
            code = statement.module.code
        except SourceError:
            continue
        # libcst drops a newline after a backslash, and the blanks in `except (A, B) :`.
        assert without_blanks(code) == without_blanks(statement.text)
    assert is_empty(source.text[end:])


def is_empty(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in NEWLINE.split(text))


def without_blanks(code: str) -> str:
    return code.rstrip().replace(" :", ":")
