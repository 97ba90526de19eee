"""Compute how a line of source looks in a terminal: what each character is shown as, and how wide it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

TAB = "    "
"""The blanks shown for a tab: the same number at any column, so that a cut line keeps its alignment."""
CUT = "..."


@dataclass(frozen=True, slots=True)
class DisplayedText:
    """Consecutive characters of a line, each as it is shown and with its width in columns."""

    glyphs: tuple[str, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, text: Iterable[str]) -> DisplayedText:
        """Return these characters as they are shown."""
        shown = [_shown(character) for character in text]
        return cls(tuple(glyph for glyph, _ in shown), tuple(width for _, width in shown))

    def text(self, start: int, end: int) -> str:
        """Return the characters from `start` to `end` as they are shown."""
        return "".join(self.glyphs[start:end])

    def width(self, start: int, end: int) -> int:
        """Return the number of columns that the characters from `start` to `end` take."""
        return sum(self.widths[start:end])


@dataclass(frozen=True, slots=True)
class DisplayedLine:
    """A line as it is shown, in the parts before, within and after the marked region.

    `column` is where the marked part begins, and `width` its width in columns.
    """

    before: str
    marked: str
    after: str
    column: int
    width: int

    @property
    def text(self) -> str:
        """The whole line as it is shown."""
        return self.before + self.marked + self.after


@dataclass(frozen=True, slots=True)
class LineWindow:
    """The part of a line that is shown: at most `width` columns, from the character `left` on."""

    left: int
    width: int

    @classmethod
    def around(cls, line: str, start: int, end: int, width: int) -> LineWindow:
        """Return a window that shows the whole line if it fits, else most of the characters from `start` to `end`."""
        head = DisplayedText.of(line[: width + 1])
        if len(line) <= width and head.width(0, len(line)) <= width:
            return cls(0, width)
        if len(head.glyphs) >= end and head.width(0, end) <= width - len(CUT):
            return cls(0, width)
        return cls(max(0, start - max(0, width - (end - start)) // 2), width)

    def show(self, line: str, start: int, end: int) -> DisplayedLine:
        """Return the visible part of the line, with the characters from `start` to `end` marked."""
        cut = CUT if line[: self.left] else ""
        room = self.width - len(cut)
        cells = DisplayedText.of(line[self.left : self.left + room + 1])
        count = _fitting(cells, room)
        rest = ""
        if self.left + count < len(line):
            count = _fitting(cells, room - len(CUT))
            rest = CUT
        first = min(max(start - self.left, 0), count)
        last = min(max(end - self.left, first), count)
        return DisplayedLine(
            before=cut + cells.text(0, first),
            marked=cells.text(first, last),
            after=cells.text(last, count) + rest,
            column=len(cut) + cells.width(0, first),
            width=cells.width(first, last),
        )


def _fitting(cells: DisplayedText, room: int) -> int:
    """Return how many of the characters fit into `room` columns."""
    used = 0
    for index, width in enumerate(cells.widths):
        used += width
        if used > room:
            return index
    return len(cells.widths)


def _shown(character: str) -> tuple[str, int]:
    """Return what a character is shown as, and its width in columns."""
    if character == "\t":
        return TAB, len(TAB)
    if " " <= character <= "~":
        return character, 1
    category = unicodedata.category(character)
    if category == "Cc" and character < " ":
        return chr(0x2400 + ord(character)), 1
    # Characters that control a terminal or hide text are replaced, never written out.
    if category in ("Cc", "Cf", "Cs"):
        return "\N{REPLACEMENT CHARACTER}", 1
    if category in ("Mn", "Me"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
