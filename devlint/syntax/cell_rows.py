"""Map rows of a notebook's joined program to rows of its cells, and back."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from devlint.diagnostic import Position, Region


@dataclass(frozen=True, slots=True)
class CellRowMap:
    """A map between rows of a notebook's joined program and rows of its code cells.

    `numbers` are the numbers of the code cells, counted from 1 among all cells; `first_rows` are the rows of the
    program on which they begin.
    """

    numbers: tuple[int, ...]
    first_rows: tuple[int, ...]

    def region(self, filename: str, start: Position, end: Position) -> Region:
        """Return a region of the joined program as a region of the cell that contains it."""
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

    def row(self, cell: int, row: int) -> int:
        """Return the program row of a row of a cell."""
        return self.first_rows[self.numbers.index(cell)] + row - 1
