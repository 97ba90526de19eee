"""Where the lines of a text begin, as the Python tokenizer counts them: `\\n`, `\\r\\n` and `\\r`, nothing else."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from devlint.diagnostic import Position

# str.splitlines() would also break at form feeds and at Unicode separators.
NEWLINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """The offset at which each line of a text begins, and the length of the text."""

    starts: tuple[int, ...]
    length: int

    @staticmethod
    def of(text: str) -> Lines:
        """The line table of `text`; the empty line after a final newline counts as a line."""
        return Lines((0, *(found.end() for found in NEWLINE.finditer(text))), len(text))

    def start(self, row: int) -> int:
        """The offset of the first character of a 1-based row; of the end of the text for a row after the last."""
        return self.starts[row - 1] if row <= len(self.starts) else self.length

    def width(self, row: int) -> int:
        """How many characters a row has, its newline included."""
        return self.start(row + 1) - self.start(row)

    def position(self, offset: int) -> Position:
        """The row and column of the character at `offset`."""
        row = bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)
