"""Reading of a Jupyter notebook as one Python program, and edits of its cells that keep the rest of the file."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from devlint.diagnostic import Position
from devlint.syntax.cell_rows import CellRowMap
from devlint.syntax.ipython_magics import cell_as_python
from devlint.syntax.json_spans import JsonSpan, array_elements, object_members
from devlint.syntax.line_starts import NEWLINE, Lines
from devlint.syntax.source import Source, SourceError, source_from_text

SUFFIX = ".ipynb"


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell of a notebook: its number among all cells, its text, and the span of that text in the JSON file.

    `parts` are the spans of the JSON strings of the lines if the file stores the text as a list of strings; else it is
    empty.
    """

    number: int
    text: str
    span: JsonSpan
    parts: tuple[JsonSpan, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """The JSON text of a notebook file, and the code cells in it if the notebook's language is Python."""

    text: str
    cells: tuple[CodeCell, ...]
    has_bom: bool = False

    def source(self, filename: str) -> Source:
        """Return all code cells joined to one program.

        IPython syntax is replaced by Python with the same number of rows.
        """
        text = "".join(cell_as_python(cell.text) + "\n" for cell in self.cells)
        return source_from_text(text, filename, has_bom=self.has_bom, cells=self.rows)

    @cached_property
    def rows(self) -> CellRowMap:
        """The map between rows of the code cells and rows of the program that they make when joined."""
        starts = [1]
        for cell in self.cells:
            starts.append(starts[-1] + len(NEWLINE.findall(cell.text)) + 1)
        return CellRowMap(tuple(cell.number for cell in self.cells), tuple(starts[:-1]))

    def lines(self, number: int) -> list[str]:
        """Return the lines of a code cell without their line breaks; an empty list if no code cell has that number."""
        return next((NEWLINE.split(cell.text) for cell in self.cells if cell.number == number), [])

    def row_in_file(self, number: int, row: int) -> int:
        """Return the row of the notebook's JSON file on which a row of a code cell stands."""
        cell = next(cell for cell in self.cells if cell.number == number)
        offset, begun = cell.span.start, 1
        for part in cell.parts:
            if begun > row:
                break
            offset = part.start
            begun += len(NEWLINE.findall(json.loads(part.cut(self.text))))
        return self._lines.position(offset).row

    def edited(self, edits: Iterable[tuple[int, Position, Position, str]]) -> bytes:
        """Return the bytes of the notebook file after some edits of cells.

        An edit is (cell number, start, end, new text), with positions in the cell. Edits must not overlap.
        """
        by_cell = defaultdict(list)
        for number, start, end, content in edits:
            by_cell[number].append((start, end, content))
        text = self.text
        for cell in reversed(self.cells):
            if cell.number in by_cell:
                written = _written(_edited(cell.text, by_cell[cell.number]), cell, self.text)
                text = text[: cell.span.start] + written + text[cell.span.end :]
        return text.encode("utf-8-sig" if self.has_bom else "utf-8")

    @cached_property
    def _lines(self) -> Lines:
        return Lines.of(self.text)


def read_notebook(data: bytes) -> Notebook:
    """Return the notebook in the bytes of a file.

    Raises SourceError, with the position of the error in the file, if the bytes are not a notebook.
    """
    text = _decoded(data)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"the notebook is not valid JSON: {error.msg}", error.lineno, error.colno) from None
    except RecursionError:
        raise SourceError("the notebook is nested too deeply") from None
    try:
        cells = tuple(_code_cells(content, text)) if _is_python(content) else ()
    except (AttributeError, KeyError, TypeError):
        raise SourceError("the file is not a notebook of format 4") from None
    return Notebook(text, cells, data.startswith(b"\xef\xbb\xbf"))


def _decoded(data: bytes) -> str:
    """Decode a notebook file from UTF-8, and return its text without the byte order mark.

    Raises SourceError if the bytes are not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Lines.of(before := data[: error.start].decode("utf-8", errors="replace")).position(len(before))
        raise SourceError(f"byte 0x{data[error.start]:02x} is not valid utf-8", place.row, place.column) from None


def _is_python(content: Any) -> bool:
    """Return whether a notebook's metadata names Python as its language, or no language at all."""
    metadata = content.get("metadata", {})
    named = (metadata.get("kernelspec", {}).get("language"), metadata.get("language_info", {}).get("name"))
    language = next((name for name in named if name), "python")
    return bool(language.lower().endswith("python"))


def _code_cells(content: Mapping[str, Any], text: str) -> Iterable[CodeCell]:
    """Yield the code cells of a notebook, which is given both as parsed JSON and as JSON text."""
    cells = content["cells"]
    spans = array_elements(text, object_members(text)["cells"].start)
    for number, (cell, span) in enumerate(zip(cells, spans, strict=True), 1):
        if cell["cell_type"] != "code":
            continue
        source = cell["source"]
        place = object_members(text, span.start)["source"]
        if isinstance(source, str):
            yield CodeCell(number, source, place)
        else:
            yield CodeCell(number, "".join(source), place, tuple(array_elements(text, place.start)))


def _edited(text: str, edits: Iterable[tuple[Position, Position, str]]) -> str:
    """Return the text of a notebook cell with some edits applied; the edits must not overlap."""
    lines = Lines.of(text)
    for start, end, content in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        first, last = (lines.start(place.row) + place.column - 1 for place in (start, end))
        text = text[:first] + content + text[last:]
    return text


def _written(source: str, cell: CodeCell, text: str) -> str:
    """Return the JSON for the new text of a notebook cell: one string or a list of lines, as the file has it.

    A line that has not changed keeps its JSON text.
    """
    before = cell.span.cut(text)
    ascii_only = before.isascii() and not source.isascii() and "\\u" in before
    if not before.startswith("["):
        return json.dumps(source, ensure_ascii=ascii_only)
    kept = {json.loads(part): part for part in (span.cut(text) for span in cell.parts)}
    lines = [kept.get(line) or json.dumps(line, ensure_ascii=ascii_only) for line in source.splitlines(keepends=True)]
    if not cell.parts:
        return f"[{', '.join(lines)}]"
    opening = text[cell.span.start : cell.parts[0].start]
    between = text[cell.parts[0].end : cell.parts[1].start] if len(cell.parts) > 1 else "," + (opening[1:] or " ")
    closing = text[cell.parts[-1].end : cell.span.end]
    return opening + between.join(lines) + closing
