r"""Search for the offsets at which the lines of a text begin.

Lines are counted as the Python tokenizer counts them: `\n`, `\r\n` and `\r` end a line, nothing else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from devlint.diagnostic import Position

# `str.splitlines` would also break lines at form feeds and at Unicode separators.
NEWLINE = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Lines:
    """A table of the offsets at which the lines of a text begin, with the length of the text."""

    starts: tuple[int, ...]
    length: int

    @staticmethod
    def of(text: str) -> Lines:
        """Return the table of line starts of a text; the empty line after a final newline counts as a line."""
        return Lines((0, *(found.end() for found in NEWLINE.finditer(text))), len(text))

    def start(self, row: int) -> int:
        """Return the offset at which a row, counted from 1, begins; the end of the text for a row after the last."""
        return self.starts[row - 1] if row <= len(self.starts) else self.length

    def width(self, row: int) -> int:
        """Return the number of characters in a row, its line break included."""
        return self.start(row + 1) - self.start(row)

    def position(self, offset: int) -> Position:
        """Return the row and column, both counted from 1, of the character at an offset."""
        row = bisect_right(self.starts, offset)
        return Position(row, offset - self.starts[row - 1] + 1)
