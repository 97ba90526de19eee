"""A notebook's cells as parts of one program: which row of which cell a row of the program is."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from devlint.diagnostic import Position, Region


@dataclass(frozen=True, slots=True)
class CellRowMap:
    """The numbers of the cells that hold code, counted from 1 among all cells, and the row on which each begins."""

    numbers: tuple[int, ...]
    first_rows: tuple[int, ...]

    def region(self, filename: str, start: Position, end: Position) -> Region:
        """The region within its cell of a region of the program."""
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
        """The row of the program that is this row of the cell."""
        return self.first_rows[self.numbers.index(cell)] + row - 1
