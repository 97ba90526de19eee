"""Notebooks as nbformat makes them and reads them: every byte that an edit does not mean stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from devlint.diagnostic import Position
from devlint.syntax.notebook import Notebook, read_notebook
from devlint.syntax.source import SourceError


def written(*cells: str, **metadata: object) -> bytes:
    """A notebook as Jupyter writes it, with a cell of text before those of code and an output behind the last."""
    notebook = nbformat.v4.new_notebook(metadata=metadata)
    notebook.cells = [nbformat.v4.new_markdown_cell("# Träning"), *map(nbformat.v4.new_code_cell, cells)]
    if cells:
        notebook.cells[-1].outputs = [nbformat.v4.new_output("stream", text="x\ny\n")]
    return (nbformat.writes(notebook) + "\n").encode()


def compact(data: bytes) -> bytes:
    """The same notebook with each source in one string, on one line, and nothing but ASCII."""
    content = json.loads(data)
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
    return json.dumps(content).encode()


def cell_of(data: bytes, number: int) -> str:
    notebook = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
    nbformat.validate(notebook)
    return notebook.cells[number - 1].source


def change(notebook: Notebook, cell: int, row: int, old: str, new: str) -> bytes:
    column = notebook.lines(cell)[row - 1].index(old) + 1
    return notebook.edited([(cell, Position(row, column), Position(row, column + len(old)), new)])


def test_the_cells_of_code_are_one_program():
    source = read_notebook(written("a = 1\nb = 2", "%time c = 3\n", "d")).source("n.ipynb")
    assert source.text == "a = 1\nb = 2\nif 1: c = 3\n\nd\n"
    place = [source.region(Position(row, 2), Position(row, 3)) for row in (1, 2, 3, 5)]
    assert [(each.cell, each.start.row) for each in place] == [(2, 1), (2, 2), (3, 1), (4, 1)]
    assert [source.row(each) for each in place] == [1, 2, 3, 5]


@pytest.mark.parametrize("form", [written, lambda *cells: compact(written(*cells))])
def test_an_edit_changes_its_line_and_no_other_byte(form):
    data = form("a = 'ü'\nb = 2\nc = 3", "d = 4")
    edited = change(read_notebook(data), 2, 2, "2", "'é\"'")
    assert cell_of(edited, 2) == "a = 'ü'\nb = 'é\"'\nc = 3"
    assert cell_of(edited, 3) == "d = 4"
    before, after = data.split(b"b = 2"), edited.split(b"b = '")
    assert edited.startswith(before[0])
    assert edited.endswith(before[1])
    assert len(after) == 2


@pytest.mark.parametrize(
    ("cell", "old", "new", "result"),
    [
        ("a = 1", "1", "2", "a = 2"),
        ("a = 1", "a", "import b\na", "import b\na = 1"),
        ("a = 1\nb = 2\n", "1\n", "1; ", "a = 1; b = 2\n"),
        ("a\r\nb", "a", "c", "c\r\nb"),
    ],
)
def test_lines_may_come_and_go(cell, old, new, result):
    notebook = read_notebook(written(cell))
    start = Position(1, cell.index(old) + 1)
    end = Position(2, 1) if old.endswith("\n") else Position(1, start.column + len(old))
    edited = notebook.edited([(2, start, end, new)])
    assert cell_of(edited, 2) == result
    assert len(edited.splitlines()) == len(written(result).splitlines())


def test_several_edits_of_several_cells():
    notebook = read_notebook(written("a a", "b\nb"))
    edits = [
        (cell, Position(row, column), Position(row, column + 1), "ccc")
        for cell, row, column in [(2, 1, 1), (3, 2, 1), (2, 1, 3)]
    ]
    edited = notebook.edited(edits)
    assert (cell_of(edited, 2), cell_of(edited, 3)) == ("ccc ccc", "b\nccc")


def test_a_byte_order_mark_stays():
    data = b"\xef\xbb\xbf" + written("a = 1")
    edited = change(read_notebook(data), 2, 1, "1", "2")
    assert edited == data.replace(b"a = 1", b"a = 2")
    assert read_notebook(data).source("n.ipynb").text == "a = 1\n"


def test_nothing_to_edit_changes_nothing():
    data = written("a = 1", "%%bash\nls")
    assert read_notebook(data).edited([]) == data


def test_a_row_of_a_cell_is_found_in_the_file():
    data = written("a = 1\nb = 2", "c = 3\n\nd = 4")
    notebook, rows = read_notebook(data), data.decode().splitlines()
    for cell, row, text in [(2, 1, "a = 1"), (2, 2, "b = 2"), (3, 1, "c = 3"), (3, 3, "d = 4")]:
        assert text in rows[notebook.row_in_file(cell, row) - 1]
    assert read_notebook(compact(data)).row_in_file(3, 3) == 1


def test_other_languages_have_no_code():
    julia = written("using Flux", kernelspec={"name": "julia", "display_name": "Julia", "language": "julia"})
    assert read_notebook(julia).source("n.ipynb").text == ""
    ipython = written("a", language_info={"name": "ipython"})
    assert read_notebook(ipython).source("n.ipynb").text == "a\n"


@pytest.mark.parametrize(
    ("data", "message", "row"),
    [
        (b"", "not valid JSON", 1),
        (b'{\n "cells": [\n', "not valid JSON", 3),
        (b"[]", "not a notebook of format 4", 1),
        (b'{"cells": [{"cell_type": "code"}]}', "not a notebook of format 4", 1),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "not a notebook of format 4", 1),
        (b'{"worksheets": [{"cells": []}], "nbformat": 3}', "not a notebook of format 4", 1),
        (b'{"cells": 1}', "not a notebook of format 4", 1),
        (b'{\n"cells": "\xff"}', "not valid utf-8", 2),
        (b"[" * 100_000, "nested too deeply", 1),
    ],
)
def test_what_is_no_notebook_is_told(data, message, row):
    with pytest.raises(SourceError, match=message) as caught:
        read_notebook(data)
    assert caught.value.row == row


def test_a_null_character_in_a_cell_is_told_where_it_is():
    with pytest.raises(SourceError) as caught:
        read_notebook(written("a", "b\nc\0")).source("n.ipynb")
    assert (caught.value.cell, caught.value.row, caught.value.column) == (3, 2, 2)


def test_no_notebook_is_written_by_reading(tmp_path: Path):
    path = tmp_path / "n.ipynb"
    path.write_bytes(written("a"))
    before = path.stat().st_mtime_ns
    read_notebook(path.read_bytes()).source("n.ipynb")
    assert path.stat().st_mtime_ns == before
