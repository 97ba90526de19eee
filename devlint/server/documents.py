"""Python programs in the editor: a file is one text; a notebook is the texts of its code cells in order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from devlint.diagnostic import Position
from devlint.server.position_encoding import PositionConverter
from devlint.server.text_buffers import BufferWorkspace, TextBuffer
from devlint.syntax.ipython_magics import cell_as_python
from devlint.syntax.line_starts import NEWLINE
from devlint.syntax.notebook import SUFFIX


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """One of the editor's texts (a file or a notebook cell), and the row of the program, from 1, at which it begins."""

    uri: str
    version: int | None
    positions: PositionConverter
    first_row: int = 1


@dataclass(frozen=True)
class EditorDocument:
    """One Python program that the editor shows: a file or a notebook.

    `text` is the source of the whole program as it is analysed. `parts` are the editor's texts that make it up: one
    file, or the cells of a notebook.
    """

    path: Path
    text: str
    parts: tuple[DocumentPart, ...]

    @property
    def is_notebook(self) -> bool:
        """Whether the program is a notebook, whose parts are cells."""
        return self.path.suffix == SUFFIX

    def part_at(self, row: int) -> DocumentPart:
        """Return the part (a file's text or a notebook cell) that contains a given row of the program."""
        return self.parts[max(0, bisect_right([one.first_row for one in self.parts], row) - 1)]

    def part_of(self, uri: str) -> DocumentPart | None:
        """Return the part (a file's text or a notebook cell) with a URI, or None if no part has that URI."""
        return next((one for one in self.parts if one.uri == uri), None)

    def location(self, start: Position, end: Position) -> types.Location:
        """Return the LSP location (URI and range) of the source region between two positions in the program."""
        part = self.part_at(start.row)
        rows_before = part.first_row - 1
        first, last = Position(start.row - rows_before, start.column), Position(end.row - rows_before, end.column)
        return types.Location(part.uri, part.positions.range_between(first, last))

    def matches_analysed_text(self, start: Position, end: Position) -> bool:
        """Return whether the lines of a source region are the same in the editor as in the analysed program.

        The lines differ where a notebook cell has IPython syntax, which is replaced before the analysis.
        """
        part = self.part_at(start.row)
        rows_before = part.first_row - 1
        for row in range(start.row, end.row + 1):
            first, last = self.positions.lines.start(row), self.positions.lines.start(row + 1)
            positions = part.positions
            editor_line = positions.text[
                positions.lines.start(row - rows_before) : positions.lines.start(row - rows_before + 1)
            ]
            if self.text[first:last].rstrip("\r\n") != editor_line.rstrip("\r\n"):
                return False
        return True

    def offset(self, part: DocumentPart, position: types.Position) -> int:
        """Return the offset in the program that an LSP position in one of the program's parts stands for."""
        place = part.positions.lines.position(part.positions.offset(position))
        return self.positions.offset_of(Position(place.row + part.first_row - 1, place.column))

    @cached_property
    def positions(self) -> PositionConverter:
        """A converter between rows, columns and offsets in the text of the whole program."""
        return PositionConverter(self.text, "utf-32")


def open_documents(buffers: BufferWorkspace) -> Iterator[EditorDocument]:
    """Yield all Python programs that are open in the editor."""
    cells: set[str] = set()
    for notebook in buffers.notebook_documents.values():
        code = [one for one in notebook.cells if one.kind is types.NotebookCellKind.Code]
        cells.update(one.document for one in notebook.cells)
        found = [buffer for one in code if (buffer := buffers.buffer(one.document)) is not None]
        found = [one for one in found if one.language_id in (None, "python")]
        if found:
            yield _notebook(notebook.uri, found)
    for buffer in buffers.text_documents.values():
        if isinstance(buffer, TextBuffer) and buffer.uri not in cells and _is_python(buffer):
            part = DocumentPart(buffer.uri, buffer.version, buffer.positions)
            yield EditorDocument(path_of_uri(buffer.uri), buffer.source, (part,))


def closed_document(path: Path, text: str, encoding: str) -> EditorDocument:
    """Return the program in a file that is not open in the editor."""
    return EditorDocument(
        path, text, (DocumentPart(uri_of_path(path.as_posix()), None, PositionConverter(text, encoding)),)
    )


def path_of_uri(uri: str) -> Path:
    """Return the file path of a URI; a URI that names no file gets a made-up path in the current directory."""
    found = to_fs_path(uri)
    return Path(found).resolve() if found else Path.cwd() / uri.replace("/", "_").replace(":", "_")


def uri_of_path(filename: str) -> str:
    """Return the URI of the file with the given name."""
    return from_fs_path(filename) or filename


def _is_python(buffer: TextBuffer) -> bool:
    """Return whether an open text is Python: by its declared language, or by its file name if none is declared."""
    return buffer.language_id == "python" or (not buffer.language_id and buffer.uri.endswith((".py", ".pyi")))


def _notebook(uri: str, cells: list[TextBuffer]) -> EditorDocument:
    """Return the program that consists of the given code cells of a notebook, one after another."""
    parts, texts, row = [], [], 1
    for cell in cells:
        parts.append(DocumentPart(cell.uri, cell.version, cell.positions, row))
        texts.append(cell_as_python(cell.source) + "\n")
        row += len(NEWLINE.findall(cell.source)) + 1
    path = path_of_uri(uri)
    # A notebook that was never saved may have any name.
    path = path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
    return EditorDocument(path, "".join(texts), tuple(parts))
