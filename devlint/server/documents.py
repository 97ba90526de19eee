"""Open documents as programs: a file is one text, a notebook the texts of its cells of code one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from devlint.diagnostic import Position
from devlint.server.buffers import Buffer, Buffers
from devlint.server.rulers import Ruler
from devlint.syntax.ipython_magics import cell_as_python
from devlint.syntax.line_starts import NEWLINE
from devlint.syntax.notebook import SUFFIX


@dataclass(frozen=True, slots=True)
class Part:
    """One text of the editor's, and the row of the program on which it begins."""

    uri: str
    version: int | None
    ruler: Ruler
    first_row: int = 1


@dataclass(frozen=True)
class Document:
    """One program in the editor: `text` is the whole of it, `parts` the editor's texts that it is made of."""

    path: Path
    text: str
    parts: tuple[Part, ...]

    @property
    def is_notebook(self) -> bool:
        """Whether its parts are the cells of a notebook."""
        return self.path.suffix == SUFFIX

    def part_at(self, row: int) -> Part:
        """The part in which a row of the program stands."""
        return self.parts[max(0, bisect_right([one.first_row for one in self.parts], row) - 1)]

    def part_of(self, uri: str) -> Part | None:
        """The part of that name."""
        return next((one for one in self.parts if one.uri == uri), None)

    def location(self, start: Position, end: Position) -> types.Location:
        """Where a stretch of the program is for the client."""
        part = self.part_at(start.row)
        down = part.first_row - 1
        first, last = Position(start.row - down, start.column), Position(end.row - down, end.column)
        return types.Location(part.uri, part.ruler.range_of(first, last))

    def has_as_analysed(self, start: Position, end: Position) -> bool:
        """Whether the editor's lines there are those that were analysed: what only notebooks understand is not."""
        part = self.part_at(start.row)
        down = part.first_row - 1
        for row in range(start.row, end.row + 1):
            first, last = self.ruler.lines.start(row), self.ruler.lines.start(row + 1)
            ruler = part.ruler
            there = ruler.text[ruler.lines.start(row - down) : ruler.lines.start(row - down + 1)]
            if self.text[first:last].rstrip("\r\n") != there.rstrip("\r\n"):
                return False
        return True

    def offset(self, part: Part, position: types.Position) -> int:
        """The offset in the program of a client's position."""
        place = part.ruler.lines.position(part.ruler.offset(position))
        return self.ruler.offset_at(Position(place.row + part.first_row - 1, place.column))

    @cached_property
    def ruler(self) -> Ruler:
        """Measures the program."""
        return Ruler(self.text, "utf-32")


def documents(buffers: Buffers) -> Iterator[Document]:
    """All open programs in Python."""
    cells: set[str] = set()
    for notebook in buffers.notebook_documents.values():
        code = [one for one in notebook.cells if one.kind is types.NotebookCellKind.Code]
        cells.update(one.document for one in notebook.cells)
        found = [buffer for one in code if (buffer := buffers.buffer(one.document)) is not None]
        found = [one for one in found if one.language_id in (None, "python")]
        if found:
            yield _notebook(notebook.uri, found)
    for buffer in buffers.text_documents.values():
        if isinstance(buffer, Buffer) and buffer.uri not in cells and _is_python(buffer):
            part = Part(buffer.uri, buffer.version, buffer.ruler)
            yield Document(path_of(buffer.uri), buffer.source, (part,))


def closed_document(path: Path, text: str, encoding: str) -> Document:
    """A program that the editor has not opened."""
    return Document(path, text, (Part(uri_of(path.as_posix()), None, Ruler(text, encoding)),))


def path_of(uri: str) -> Path:
    """Where a document lies; a place for one that has none is made up in the current directory."""
    found = to_fs_path(uri)
    return Path(found).resolve() if found else Path.cwd() / uri.replace("/", "_").replace(":", "_")


def uri_of(filename: str) -> str:
    """The name of a file for the client."""
    return from_fs_path(filename) or filename


def _is_python(buffer: Buffer) -> bool:
    return buffer.language_id == "python" or (not buffer.language_id and buffer.uri.endswith((".py", ".pyi")))


def _notebook(uri: str, cells: list[Buffer]) -> Document:
    parts, texts, row = [], [], 1
    for cell in cells:
        parts.append(Part(cell.uri, cell.version, cell.ruler, row))
        texts.append(cell_as_python(cell.source) + "\n")
        row += len(NEWLINE.findall(cell.source)) + 1
    path = path_of(uri)
    # One that was never saved may have any name.
    path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    return Document(path, "".join(texts), tuple(parts))
