"""A code frame: the lines of a region with their numbers, and marks below what is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devlint.diagnostic import Region
from devlint.output.cells import Window

_LONGEST = 6
"""A region of more lines is shown by its beginning and its end."""


@dataclass(frozen=True, slots=True)
class FrameLine:
    """One line of source: its number, its text, and the columns (from 0) between which it is marked."""

    number: int
    text: str
    start: int
    end: int

    @property
    def marked(self) -> bool:
        """Whether something in the line is marked."""
        return self.end > self.start


def frame(lines: Sequence[str], region: Region, *, context: int, width: int) -> Iterator[FrameLine | None]:
    """The lines of the region with `context` lines around it; None stands for lines left out."""
    first, last = region.start.row, region.end.row
    if last > first and region.end.column == 1:
        last -= 1
    if not 1 <= first <= len(lines):
        return
    last = min(last, len(lines))
    start, end = _marks(lines, region, first, first)
    window = Window.around(lines[first - 1], start, end, width)
    for row in _rows(lines, first, last, context):
        if row is None:
            yield None
            continue
        line = lines[row - 1]
        if not first <= row <= last:
            yield FrameLine(row, window.show(line, 0, 0)[0], 0, 0)
            continue
        text, begin, finish = window.show(line, *_marks(lines, region, row, first))
        if row == first:
            finish = max(finish, begin + 1)
        yield FrameLine(row, text, begin, finish)


def _rows(lines: Sequence[str], first: int, last: int, context: int) -> Iterator[int | None]:
    above = list(range(max(1, first - context), first))
    below = list(range(last + 1, min(len(lines), last + context) + 1))
    while above and not lines[above[0] - 1].strip():
        above.pop(0)
    while below and not lines[below[-1] - 1].strip():
        below.pop()
    yield from above
    if last - first < _LONGEST:
        yield from range(first, last + 1)
    else:
        yield from range(first, first + _LONGEST - 2)
        yield None
        yield last
    yield from below


def _marks(lines: Sequence[str], region: Region, row: int, first: int) -> tuple[int, int]:
    """The characters of the region in one of its lines, without the indentation and what trails."""
    line = lines[row - 1]
    start = region.start.column - 1 if row == first else len(line) - len(line.lstrip())
    end = region.end.column - 1 if row == region.end.row else len(line.rstrip())
    return start, min(max(start, end), len(line))
