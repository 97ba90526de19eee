"""A line of source as a terminal shows it: what each character looks like and how wide it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

TAB = "    "
"""A tab has one width wherever it stands, so that cutting a line does not move what follows."""
CUT = "..."


@dataclass(frozen=True, slots=True)
class DisplayedText:
    """Consecutive characters of a line as they are shown."""

    glyphs: tuple[str, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, text: Iterable[str]) -> DisplayedText:
        """How these characters are shown."""
        shown = [_shown(character) for character in text]
        return cls(tuple(glyph for glyph, _ in shown), tuple(width for _, width in shown))

    def text(self, start: int, end: int) -> str:
        """How the characters from `start` to `end` look."""
        return "".join(self.glyphs[start:end])

    def width(self, start: int, end: int) -> int:
        """The columns taken by the characters from `start` to `end`."""
        return sum(self.widths[start:end])


@dataclass(frozen=True, slots=True)
class DisplayedLine:
    """A line as it is shown, in three parts; `column` is where the marked part begins, and `width` how wide it is."""

    before: str
    marked: str
    after: str
    column: int
    width: int

    @property
    def text(self) -> str:
        """The whole line."""
        return self.before + self.marked + self.after


@dataclass(frozen=True, slots=True)
class LineWindow:
    """The part of a line that is shown: at most `width` columns, from the character `left` on."""

    left: int
    width: int

    @classmethod
    def around(cls, line: str, start: int, end: int, width: int) -> LineWindow:
        """All of the line where it fits, else the part in which most of the characters from `start` to `end` are."""
        head = DisplayedText.of(line[: width + 1])
        if len(line) <= width and head.width(0, len(line)) <= width:
            return cls(0, width)
        if len(head.glyphs) >= end and head.width(0, end) <= width - len(CUT):
            return cls(0, width)
        return cls(max(0, start - max(0, width - (end - start)) // 2), width)

    def show(self, line: str, start: int, end: int) -> DisplayedLine:
        """The visible part of the line, and what of it lies between the characters `start` and `end`."""
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
    used = 0
    for index, width in enumerate(cells.widths):
        used += width
        if used > room:
            return index
    return len(cells.widths)


def _shown(character: str) -> tuple[str, int]:
    if character == "\t":
        return TAB, len(TAB)
    if " " <= character <= "~":
        return character, 1
    category = unicodedata.category(character)
    if category == "Cc" and character < " ":
        return chr(0x2400 + ord(character)), 1
    # What steers a terminal or hides text is shown as a replacement, never written out.
    if category in ("Cc", "Cf", "Cs"):
        return "\N{REPLACEMENT CHARACTER}", 1
    if category in ("Mn", "Me"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
