"""Code frames: the numbered source lines of a region of a file, with the columns of the region marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devlint.diagnostic import Region
from devlint.output.display_width import DisplayedLine, LineWindow

_LONGEST = 6
"""The most lines of a region that are shown; a longer region is cut in the middle."""


@dataclass(frozen=True, slots=True)
class FrameLine:
    """A line of a code frame: its line number, its displayed text, and whether it belongs to the marked region.

    A code frame shows the source lines of a region of a file, with the columns of the region marked.
    """

    number: int
    shown: DisplayedLine
    meant: bool


def code_frame(lines: Sequence[str], region: Region, *, context_lines: int, width: int) -> Iterator[FrameLine | None]:
    """Yield the source lines of a region, with `context_lines` lines before and after it, as a user sees them.

    None stands for lines left out of a long region. `width` is the width of the displayed lines in columns.
    """
    first, last = region.start.row, region.end.row
    if last > first and region.end.column == 1:
        last -= 1
    if not 1 <= first <= len(lines):
        return
    last = min(last, len(lines))
    window = LineWindow.around(lines[first - 1], *_marked_columns(lines, region, first), width)
    for row in _shown_rows(lines, first, last, context_lines):
        if row is None:
            yield None
        else:
            meant = first <= row <= last
            start, end = _marked_columns(lines, region, row) if meant else (0, 0)
            yield FrameLine(row, window.show(lines[row - 1], start, end), meant)


def _shown_rows(lines: Sequence[str], first: int, last: int, context_lines: int) -> Iterator[int | None]:
    """Yield the numbers of the source lines that a code frame shows, in order; None stands for lines left out.

    A code frame shows the source lines of a region and some lines around it.
    """
    above = list(range(max(1, first - context_lines), first))
    below = list(range(last + 1, min(len(lines), last + context_lines) + 1))
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


def _marked_columns(lines: Sequence[str], region: Region, row: int) -> tuple[int, int]:
    """Return the columns of a region in one of its lines, as 0-based start and exclusive end.

    The indentation and the trailing blanks of a line inside the region are left out.
    """
    line = lines[row - 1]
    start = region.start.column - 1 if row == region.start.row else len(line) - len(line.lstrip())
    end = region.end.column - 1 if row == region.end.row else len(line.rstrip())
    return start, min(max(start, end), len(line))
