"""A code frame: the lines of a region with their numbers, and marks below what is meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devlint.diagnostic import Region
from devlint.output.display_width import DisplayedLine, LineWindow

_LONGEST = 6
"""A region of more lines is shown by its beginning and its end."""


@dataclass(frozen=True, slots=True)
class FrameLine:
    """One line of source: its number, how it is shown, and whether it belongs to the region."""

    number: int
    shown: DisplayedLine
    meant: bool


def code_frame(lines: Sequence[str], region: Region, *, context: int, width: int) -> Iterator[FrameLine | None]:
    """The lines of the region with `context` lines around it; None stands for lines left out."""
    first, last = region.start.row, region.end.row
    if last > first and region.end.column == 1:
        last -= 1
    if not 1 <= first <= len(lines):
        return
    last = min(last, len(lines))
    window = LineWindow.around(lines[first - 1], *_marks(lines, region, first), width)
    for row in _rows(lines, first, last, context):
        if row is None:
            yield None
        else:
            meant = first <= row <= last
            start, end = _marks(lines, region, row) if meant else (0, 0)
            yield FrameLine(row, window.show(lines[row - 1], start, end), meant)


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


def _marks(lines: Sequence[str], region: Region, row: int) -> tuple[int, int]:
    """The characters of the region in one of its lines, without the indentation and what trails."""
    line = lines[row - 1]
    start = region.start.column - 1 if row == region.start.row else len(line) - len(line.lstrip())
    end = region.end.column - 1 if row == region.end.row else len(line.rstrip())
    return start, min(max(start, end), len(line))
