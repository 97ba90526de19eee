"""Positions as the protocol counts them, in the encoding that client and server have agreed on."""

from __future__ import annotations

from functools import cached_property

from lsprotocol import types

from devlint.diagnostic import Position
from devlint.syntax.line_starts import Lines

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


class Ruler:
    """Measures one text: offsets, rows and columns on one side, the client's lines and code units on the other."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._codec, self._width = _CODECS[encoding]
        self._ascii = text.isascii()

    @cached_property
    def lines(self) -> Lines:
        """Where the lines begin: the protocol and the Python tokenizer know the same line ends."""
        return Lines.of(self.text)

    def position(self, offset: int) -> types.Position:
        """The client's position of a character."""
        row = self.lines.position(offset).row
        return types.Position(row - 1, self._units(self.text[self.lines.start(row) : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """The client's range of a stretch of text."""
        return types.Range(self.position(start), self.position(end))

    def range_of(self, start: Position, end: Position) -> types.Range:
        """The client's range between two places of the text."""
        return self.range(self.offset_at(start), self.offset_at(end))

    def offset_at(self, place: Position) -> int:
        """The offset of a place; the nearest there is, where the text has become shorter."""
        row = min(place.row, len(self.lines.starts))
        return min(self.lines.start(row) + place.column - 1, self._end_of(row)) if place.row == row else len(self.text)

    def offset(self, position: types.Position) -> int:
        """The offset of a client's position; as the protocol wants it, what is behind the end of a line is its end."""
        row = position.line + 1
        if row < 1:
            return 0
        if row > len(self.lines.starts):
            return len(self.text)
        start, end = self.lines.start(row), self._end_of(row)
        if self._ascii or self._width == 4:
            return min(start + max(0, position.character), end)
        units = 0
        for offset in range(start, end):
            if units >= position.character:
                return offset
            units += self._units(self.text[offset])
        return end

    def _end_of(self, row: int) -> int:
        """Where a row ends, its line break not included."""
        start, end = self.lines.start(row), self.lines.start(row + 1)
        return start + len(self.text[start:end].rstrip("\r\n"))

    def _units(self, text: str) -> int:
        if self._ascii or self._width == 4:
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width
