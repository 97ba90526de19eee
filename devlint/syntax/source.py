"""The decoded text of one Python file or notebook, and the error for a file that cannot be read or parsed."""

from __future__ import annotations

from dataclasses import dataclass

from devlint.diagnostic import Position, Region
from devlint.syntax.cell_rows import CellRowMap
from devlint.syntax.line_starts import NEWLINE, Lines


class SourceError(Exception):
    """An error in reading or parsing a file or a statement, with the row and column of its cause."""

    def __init__(self, message: str, row: int = 1, column: int = 1, cell: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column
        self.cell = cell

    def __reduce__(self) -> tuple[type[SourceError], tuple[str, int, int, int | None]]:
        return type(self), (self.message, self.row, self.column, self.cell)


@dataclass(frozen=True, slots=True)
class Source:
    """The decoded text of one file, without a byte order mark and with the file's own line breaks.

    For a notebook, the text is the program that all code cells make when joined, and `cells` maps its rows to the
    cells.
    """

    filename: str
    text: str
    encoding: str = "utf-8"
    newline: str = "\n"
    has_bom: bool = False
    cells: CellRowMap | None = None

    @staticmethod
    def of(text: str, filename: str = "<string>") -> Source:
        """Return a Source made from text that is already decoded."""
        return source_from_text(text, filename, has_bom=text.startswith("\ufeff"))

    def region(self, start: Position, end: Position) -> Region:
        """Return the region between two positions as findings report it: for a notebook, relative to its cell."""
        if self.cells is None:
            return Region(self.filename, start, end)
        return self.cells.region(self.filename, start, end)

    def row(self, region: Region) -> int:
        """Return the row of the text on which a region begins; a region in a notebook is given relative to its cell."""
        if self.cells is None or region.cell is None:
            return region.start.row
        return self.cells.row(region.cell, region.start.row)

    def error(self, message: str, row: int = 1, column: int = 1) -> SourceError:
        """Return a SourceError with a message and the row and column in the text to which the message refers."""
        place = Position(row, column)
        region = self.region(place, place)
        return SourceError(message, region.start.row, column, region.cell)


def source_from_text(
    text: str, filename: str, encoding: str = "utf-8", *, has_bom: bool = False, cells: CellRowMap | None = None
) -> Source:
    """Return the Source with an already decoded text.

    Raises SourceError if the text contains a null character.
    """
    text = text.removeprefix("\ufeff")
    newline = NEWLINE.search(text)
    newline_text = newline.group() if newline else "\n"
    source = Source(filename.replace("\\", "/"), text, encoding, newline_text, has_bom, cells)
    if "\0" in text:
        place = Lines.of(text).position(text.index("\0"))
        raise source.error("the text holds a null character", place.row, place.column)
    return source
