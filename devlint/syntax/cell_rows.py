"""Conversion between rows of a notebook's cells and rows of the program that the code cells make when joined."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from devlint.diagnostic import Position, Region


@dataclass(frozen=True, slots=True)
class CellRowMap:
    """A map between rows of a notebook's code cells and rows of the program that these cells make when joined.

    `numbers` are the numbers of the code cells, counted from 1 among all cells of the notebook. `first_rows` are the
    rows of the program on which the code cells begin.
    """

    numbers: tuple[int, ...]
    first_rows: tuple[int, ...]

    def region(self, filename: str, start: Position, end: Position) -> Region:
        """Convert a region of a notebook's joined program to a region of the cell in which it begins."""
        if not self.numbers:
            return Region(filename, start, end)
        index = max(0, bisect_right(self.first_rows, start.row) - 1)
        before = self.first_rows[index] - 1
        return Region(
            filename,
            Position(start.row - before, start.column),
            Position(end.row - before, end.column),
            self.numbers[index],
        )

    def in_one_cell(self, row: int, other: int) -> bool:
        """Return whether two rows of a notebook's joined program are in the same cell."""
        return bisect_right(self.first_rows, row) == bisect_right(self.first_rows, other)

    def row(self, cell: int, row: int) -> int:
        """Return the row of a notebook's joined program for a row of one of its cells."""
        return self.first_rows[self.numbers.index(cell)] + row - 1
