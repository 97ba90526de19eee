"""A file in the middle of being repaired: its text, and how that becomes bytes again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from devlint.diagnostic import Edit, Fix, Position
from devlint.syntax.lines import Lines
from devlint.syntax.source import Source, SourceError, decode_source

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file, with what is needed to write it as it was: encoding, byte order mark, line ends."""

    source: Source

    @staticmethod
    def of(data: bytes, filename: str) -> Document | None:
        """The document with these bytes; None where they cannot be read, or would not come back the same."""
        try:
            document = Document(decode_source(data, filename))
            return document if document.data == data else None
        except (SourceError, UnicodeError):
            return None

    @property
    def data(self) -> bytes:
        """The bytes of the file. Raises UnicodeEncodeError for a character that its encoding lacks."""
        return (_BOM if self.source.has_bom else b"") + self.source.text.encode(self.source.encoding)

    def takes(self, fix: Fix) -> bool:
        """Whether the encoding of the file has all that a fix puts in."""
        try:
            "".join(edit.content for edit in fix.edits).encode(self.source.encoding)
        except UnicodeEncodeError:
            return False
        return True

    def edited(self, edits: Iterable[Edit]) -> Document:
        """The document after some edits, which do not overlap."""
        text = self.source.text
        lines = Lines.of(text)

        def offset(position: Position) -> int:
            return lines.start(position.row) + position.column - 1

        for edit in sorted(set(edits), key=lambda one: (one.start, one.end), reverse=True):
            text = text[: offset(edit.start)] + edit.content + text[offset(edit.end) :]
        return Document(replace(self.source, text=text))
