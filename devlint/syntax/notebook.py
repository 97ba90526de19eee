"""Jupyter notebooks: the cells of code as one program, and edits of cells that leave the rest of the file untouched."""

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
    """A cell of code: its number among all cells, its text, and where that stands in the file.

    `parts` are the strings of which the text is made, where the file has a list of them.
    """

    number: int
    text: str
    span: JsonSpan
    parts: tuple[JsonSpan, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """A notebook as it lies on the disk, and the cells that hold Python."""

    text: str
    cells: tuple[CodeCell, ...]
    has_bom: bool = False

    def source(self, filename: str) -> Source:
        """All cells as one program; what only IPython understands is replaced, and no row is added or lost."""
        text = "".join(cell_as_python(cell.text) + "\n" for cell in self.cells)
        return source_from_text(text, filename, has_bom=self.has_bom, cells=self.rows)

    @cached_property
    def rows(self) -> CellRowMap:
        """Where in the program the cells are."""
        starts = [1]
        for cell in self.cells:
            starts.append(starts[-1] + len(NEWLINE.findall(cell.text)) + 1)
        return CellRowMap(tuple(cell.number for cell in self.cells), tuple(starts[:-1]))

    def lines(self, number: int) -> list[str]:
        """The lines of a cell without their ends; none where there is no such cell of code."""
        return next((NEWLINE.split(cell.text) for cell in self.cells if cell.number == number), [])

    def row_in_file(self, number: int, row: int) -> int:
        """The row of the file where a row of a cell stands."""
        cell = next(cell for cell in self.cells if cell.number == number)
        offset, begun = cell.span.start, 1
        for part in cell.parts:
            if begun > row:
                break
            offset = part.start
            begun += len(NEWLINE.findall(json.loads(part.cut(self.text))))
        return self._lines.position(offset).row

    def edited(self, edits: Iterable[tuple[int, Position, Position, str]]) -> bytes:
        """The file with text put in place of regions of cells: (cell, start, end, text); they must not overlap."""
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
    """The notebook in these bytes. Raises SourceError for what is none; the place is one in the file."""
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
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = Lines.of(before := data[: error.start].decode("utf-8", errors="replace")).position(len(before))
        raise SourceError(f"byte 0x{data[error.start]:02x} is not valid utf-8", place.row, place.column) from None


def _is_python(content: Any) -> bool:
    """Whether the notebook names no other language."""
    metadata = content.get("metadata", {})
    named = (metadata.get("kernelspec", {}).get("language"), metadata.get("language_info", {}).get("name"))
    language = next((name for name in named if name), "python")
    return bool(language.lower().endswith("python"))


def _code_cells(content: Mapping[str, Any], text: str) -> Iterable[CodeCell]:
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
    lines = Lines.of(text)
    for start, end, content in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        first, last = (lines.start(place.row) + place.column - 1 for place in (start, end))
        text = text[:first] + content + text[last:]
    return text


def _written(source: str, cell: CodeCell, text: str) -> str:
    """The text of a cell as the file has it: one string, or a list of lines; a line that has not changed stays."""
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
