"""Conversion of positions: offsets, rows and columns in Python, and lines and code units in the protocol."""

from __future__ import annotations

from functools import cached_property

from lsprotocol import types

from devlint.diagnostic import Position
from devlint.syntax.line_starts import Lines

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The codec and the bytes of one code unit, for each position encoding of the protocol."""


class PositionConverter:
    """Converts positions in one text between devlint and the protocol.

    devlint counts offsets from 0, and rows and columns from 1, in characters. The protocol counts lines and code units
    from 0, in the encoding that client and server have agreed on.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._codec, self._width = _CODECS[encoding]
        self._ascii = text.isascii()

    @cached_property
    def lines(self) -> Lines:
        """The line starts of the text; the protocol and Python's tokenizer know the same line ends."""
        return Lines.of(self.text)

    def position(self, offset: int) -> types.Position:
        """Return the client's position of an offset."""
        row = self.lines.position(offset).row
        return types.Position(row - 1, self._units(self.text[self.lines.start(row) : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the client's range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def range_between(self, start: Position, end: Position) -> types.Range:
        """Return the client's range between two rows and columns."""
        return self.range(self.offset_of(start), self.offset_of(end))

    def offset_of(self, place: Position) -> int:
        """Return the offset of a row and column; the nearest offset if the text has become shorter."""
        row = min(place.row, len(self.lines.starts))
        return min(self.lines.start(row) + place.column - 1, self._end_of(row)) if place.row == row else len(self.text)

    def offset(self, position: types.Position) -> int:
        """Return the offset of a client's position; behind the end of a line, the offset of the line's end."""
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
        """Return the offset of the end of a row, without the line break."""
        start, end = self.lines.start(row), self.lines.start(row + 1)
        return start + len(self.text[start:end].rstrip("\r\n"))

    def _units(self, text: str) -> int:
        """Return the length of a text in the protocol's code units."""
        if self._ascii or self._width == 4:
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width
