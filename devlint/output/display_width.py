"""Display of a source line in a terminal: what each character is shown as, and how many columns it takes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

TAB = "    "
"""The blanks shown for a tab: the same number at any column, so that a cut line keeps its alignment."""
CUT = "..."
_LONGEST_WORD = 24
"""The characters of a word that a cut leaves out as a whole; a longer one, such as a row of ideographs, is cut."""


@dataclass(frozen=True, slots=True)
class DisplayedText:
    """Characters of a source line, each with what a terminal shows for it and the number of columns that it takes."""

    glyphs: tuple[str, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, text: Iterable[str]) -> DisplayedText:
        """Return the characters of a text, each with what a terminal shows for it and with its width in columns."""
        shown = [_shown(character) for character in text]
        return cls(tuple(glyph for glyph, _ in shown), tuple(width for _, width in shown))

    def blanked(self, count: int) -> DisplayedText:
        """Return the same characters, with blanks in place of the first ones."""
        blanks = tuple(" " * width for width in self.widths[:count])
        return DisplayedText((*blanks, *self.glyphs[count:]), self.widths)

    def text(self, start: int, end: int) -> str:
        """Return what a terminal shows for the characters from index `start` to index `end`."""
        return "".join(self.glyphs[start:end])

    def width(self, start: int, end: int) -> int:
        """Return the number of terminal columns that the characters from index `start` to index `end` take."""
        return sum(self.widths[start:end])


@dataclass(frozen=True, slots=True)
class DisplayedLine:
    """A source line as a terminal shows it, in the parts before, within and after a marked region.

    `column` is the 0-based column where the marked part begins, and `width` is the width of that part in columns.
    """

    before: str
    marked: str
    after: str
    column: int
    width: int

    @property
    def text(self) -> str:
        """The whole displayed line: the parts before, within and after the marked region."""
        return self.before + self.marked + self.after


@dataclass(frozen=True, slots=True)
class LineWindow:
    """The part of a source line that a terminal shows: at most `width` columns, starting at character index `left`."""

    left: int
    width: int

    @classmethod
    def around(cls, line: str, start: int, end: int, width: int) -> LineWindow:
        """Return a window that shows the whole line if it fits into `width` terminal columns.

        If not, the window shows as many as possible of the characters from index `start` to index `end`.
        """
        head = DisplayedText.of(line[: width + 1])
        if len(line) <= width and head.width(0, len(line)) <= width:
            return cls(0, width)
        if len(head.glyphs) >= end and head.width(0, end) <= width - len(CUT):
            return cls(0, width)
        left = max(0, start - max(0, width - (end - start)) // 2)
        return cls(min(start, left + _rest_of_word(line, left)), width)

    def show(self, line: str, start: int, end: int) -> DisplayedLine:
        """Return the part of the line in the window, with the characters from index `start` to index `end` marked."""
        cut = CUT if line[: self.left] else ""
        room = self.width - len(cut)
        cells = DisplayedText.of(line[self.left : self.left + room + 1])
        count = _fitting(cells, room)
        rest = ""
        if self.left + count < len(line):
            count = _fitting(cells, room - len(CUT))
            whole = count - _part_of_word(line, self.left + count)
            count = whole if self.left + whole > start else count
            rest = CUT
        first = min(max(start - self.left, 0), count)
        last = min(max(end - self.left, first), count)
        # The end of a word that is cut at the left is left blank: its beginning is not there to tell what it is.
        blank = min(_rest_of_word(line, self.left), first if last > first else count) if cut else 0
        cells = cells.blanked(blank)
        return DisplayedLine(
            before=cut + cells.text(0, first),
            marked=cells.text(first, last),
            after=cells.text(last, count) + rest,
            column=len(cut) + cells.width(0, first),
            width=cells.width(first, last),
        )


def _rest_of_word(line: str, index: int) -> int:
    """Return how many characters from an index on end a word that begins before; 0 for a word too long to leave out."""
    if not _is_within_word(line, index):
        return 0
    return _length_of_word(line[index : index + _LONGEST_WORD])


def _part_of_word(line: str, index: int) -> int:
    """Return how many characters before an index begin a word that goes on; 0 for a word too long to leave out."""
    if not _is_within_word(line, index):
        return 0
    return _length_of_word(line[max(0, index - _LONGEST_WORD) : index][::-1])


def _length_of_word(text: str) -> int:
    """Return how many characters at the beginning of a text belong to a word; 0 for a word too long to leave out."""
    length = next((number for number, one in enumerate(text) if not _in_word(one)), len(text))
    return length if length < _LONGEST_WORD else 0


def _is_within_word(line: str, index: int) -> bool:
    return 0 < index < len(line) and _in_word(line[index - 1]) and _in_word(line[index])


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _fitting(cells: DisplayedText, room: int) -> int:
    """Return how many of the characters, counted from the first, fit into `room` terminal columns."""
    used = 0
    for index, width in enumerate(cells.widths):
        used += width
        if used > room:
            return index
    return len(cells.widths)


def _shown(character: str) -> tuple[str, int]:
    """Return what a terminal is to show for a character, and its width in columns.

    Tabs become blanks, and control characters become visible signs.
    """
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
