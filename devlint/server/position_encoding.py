"""Conversion of positions between Python (offsets, rows, columns) and LSP (lines and code units)."""

from __future__ import annotations

from functools import cached_property

from lsprotocol import types

from devlint.diagnostic import Position
from devlint.syntax.line_starts import Lines

_CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The codec and the bytes of one code unit, for each position encoding of the protocol."""


class PositionConverter:
    """A converter of positions in one text between devlint's and those of the Language Server Protocol (LSP).

    devlint counts offsets from 0, and rows and columns from 1, in characters. LSP counts lines and code units from 0,
    in the encoding on which client and server have agreed.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._codec, self._width = _CODECS[encoding]
        self._ascii = text.isascii()

    @cached_property
    def lines(self) -> Lines:
        """The offsets at which the lines of the text begin; LSP and Python's tokenizer know the same line ends."""
        return Lines.of(self.text)

    def position(self, offset: int) -> types.Position:
        """Return the LSP position (line and code unit) of an offset."""
        row = self.lines.position(offset).row
        return types.Position(row - 1, self._units(self.text[self.lines.start(row) : offset]))

    def range(self, start: int, end: int) -> types.Range:
        """Return the LSP range between two offsets."""
        return types.Range(self.position(start), self.position(end))

    def range_between(self, start: Position, end: Position) -> types.Range:
        """Return the LSP range between two positions that are given by rows and columns."""
        return self.range(self.offset_of(start), self.offset_of(end))

    def offset_of(self, place: Position) -> int:
        """Return the offset of a row and column, or the nearest offset if the text has no such row or column."""
        row = min(place.row, len(self.lines.starts))
        return min(self.lines.start(row) + place.column - 1, self._end_of(row)) if place.row == row else len(self.text)

    def offset(self, position: types.Position) -> int:
        """Return the offset of an LSP position; for one behind the end of a line, the offset of that line's end."""
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
        """Return the offset at which a row ends, its line break excluded."""
        start, end = self.lines.start(row), self.lines.start(row + 1)
        return start + len(self.text[start:end].rstrip("\r\n"))

    def _units(self, text: str) -> int:
        """Return the length of a text in code units of the agreed LSP position encoding."""
        if self._ascii or self._width == 4:
            return len(text)
        return len(text.encode(self._codec, "surrogatepass")) // self._width
