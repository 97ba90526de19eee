"""Files to which fixes are applied: their names and bytes, and the application of edits to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from devlint.diagnostic import Edit, Position
from devlint.syntax.line_starts import Lines
from devlint.syntax.notebook import SUFFIX, read_notebook
from devlint.syntax.source import Source, SourceError
from devlint.syntax.source_reading import decode_source

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Document:
    """The name and the contents, as bytes, of a file to which fixes are applied."""

    filename: str
    data: bytes

    @property
    def text(self) -> str:
        """The decoded text of the file; for a notebook, the JSON text."""
        if self._is_notebook:
            return self.data.decode("utf-8-sig")
        return decode_source(self.data, self.filename).text

    def takes(self, edits: Iterable[Edit]) -> bool:
        """Return whether edits can be applied to the document so that all other bytes of the file stay the same."""
        try:
            if self._is_notebook:
                return all(self._is_python(edit) for edit in edits)
            source = decode_source(self.data, self.filename)
            "".join(edit.content for edit in edits).encode(source.encoding)
            return _encoded(source) == self.data
        except (SourceError, UnicodeError):
            return False

    def edited(self, edits: Iterable[Edit]) -> Document:
        """Return the document with some edits applied; the edits must not overlap, and equal edits are made once."""
        unique = set(edits)
        if self._is_notebook:
            changes = [(edit.cell or 0, edit.start, edit.end, edit.content) for edit in unique]
            return replace(self, data=read_notebook(self.data).edited(changes))
        source = decode_source(self.data, self.filename)
        return replace(self, data=_encoded(replace(source, text=_edited(source.text, unique))))

    @property
    def _is_notebook(self) -> bool:
        """Whether the document is a Jupyter notebook, judged by its file name."""
        return self.filename.endswith(SUFFIX)

    def _is_python(self, edit: Edit) -> bool:
        """Return whether the rows of a notebook cell that an edit touches are plain Python, without IPython magics."""
        notebook = read_notebook(self.data)
        if edit.cell is None or notebook.rows.numbers == ():
            return False
        first = notebook.rows.row(edit.cell, edit.start.row) - 1
        written = notebook.lines(edit.cell)[edit.start.row - 1 : edit.end.row]
        read = notebook.source(self.filename).text.split("\n")
        return [line.rstrip("\r") for line in read[first : first + len(written)]] == written


def _encoded(source: Source) -> bytes:
    """Return the text of a source file as bytes in the file's encoding, with a byte order mark if the file has one."""
    return (_BOM if source.has_bom else b"") + source.text.encode(source.encoding)


def _edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with some edits applied; the edits must not overlap."""
    lines = Lines.of(text)

    def offset(position: Position) -> int:
        return lines.start(position.row) + position.column - 1

    for edit in sorted(edits, key=lambda one: (one.start, one.end), reverse=True):
        text = text[: offset(edit.start)] + edit.content + text[offset(edit.end) :]
    return text
