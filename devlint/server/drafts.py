"""A text in the middle of being written: what of it parses, and what parsed last where it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from devlint.syntax.incremental_index import Change, is_parsable, reindex_source
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source import Source, SourceError


class Stretch(NamedTuple):
    """A part of the text, and the part of the kept text at the same place."""

    start: int
    end: int
    kept_start: int
    kept_end: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of the text, whole top-level statements, that does not parse; and the stretch of the kept text, which
    did, that stands for it."""

    start: int
    end: int
    kept_start: int
    kept_end: int
    change: Change
    """What makes the one of the other, counted from the beginning of either."""

    def moved(self, characters: int, kept: int) -> Gap:
        """The same gap further down."""
        start, end = self.start + characters, self.end + characters
        return Gap(start, end, self.kept_start + kept, self.kept_end + kept, self.change)


class Draft:
    """One open text.

    `text` is what the editor shows and `kept` what is analysed: the same text, but for the statements that do not parse
    as they stand, instead of which their last good state is kept. `error` says what does not parse.
    """

    def __init__(self, text: str, make_source: Callable[[str], Source], known: FileIndex | None = None) -> None:
        """`known` is the index of the file as it was, whose statements are kept where they are the same."""
        self._make = make_source
        self.text = self.kept = text
        self.error: SourceError | None = None
        self._gaps: tuple[Gap, ...] = ()
        self._index: FileIndex | None = None
        self._begin(text, known)

    @property
    def index(self) -> FileIndex:
        """The index of the kept text. Raises SourceError where nothing has parsed yet."""
        if self._index is None:
            assert self.error is not None
            raise self.error
        return self._index

    @property
    def is_empty(self) -> bool:
        """Whether nothing has parsed yet."""
        return self._index is None

    @property
    def is_patched(self) -> bool:
        """Whether there is something in the text that does not parse, and something else is analysed instead."""
        return bool(self._gaps)

    def update(self, text: str) -> None:
        """The text has changed."""
        if text == self.text:
            return
        if self._index is None:
            self._begin(text, None)
            return
        try:
            self._index = self._reindexed(self._index, text)
        except SourceError as error:
            self.error = error
            self._bridge(self._index, text)
        else:
            self.kept, self._gaps, self.error = text, (), None
        self.text = text

    def shown(self, offset: int) -> int | None:
        """Where a character of the kept text stands in the editor; None for one that it does not show."""
        shift = 0
        for gap in self._gaps:
            if offset < gap.kept_start:
                break
            if offset < gap.kept_end:
                inner = gap.change.carried(offset - gap.kept_start)
                return None if inner is None else gap.start + inner
            shift = gap.end - gap.kept_end
        return offset + shift

    def _begin(self, text: str, known: FileIndex | None) -> None:
        self.text = self.kept = text
        try:
            source = self._make(text)
            self._index, self.error = index_source(source) if known is None else reindex_source(known, source), None
        except SourceError as error:
            self.error = error

    def _bridge(self, index: FileIndex, text: str) -> None:
        """Keep what parses of a text that as a whole does not."""
        change = Change.between(self.text, text)
        stretch = _stretch_around(index, self._gaps, change)
        before = [one for one in self._gaps if one.end < stretch.start]
        after = [one for one in self._gaps if one.start > stretch.end]
        new_end = stretch.end + change.shift
        written = text[stretch.start : new_end]
        mended = self.kept[: stretch.kept_start] + written + self.kept[stretch.kept_end :]
        filled: list[Gap] = []
        try:
            # By itself first: the whole takes longer, and most of what is half typed is no statement.
            known = self._reindexed(index, mended) if is_parsable(written) else None
        except SourceError:
            known = None
        if known is None:
            difference = Change.between(self.kept[stretch.kept_start : stretch.kept_end], written)
            filled = [Gap(stretch.start, new_end, stretch.kept_start, stretch.kept_end, difference)]
            mended = self.kept
        moved = [one.moved(change.shift, len(mended) - len(self.kept)) for one in after]
        self._gaps, self.kept = (*before, *filled, *moved), mended
        self._index = known or index

    def _reindexed(self, index: FileIndex, text: str) -> FileIndex:
        return reindex_source(index, self._make(text))


def _stretch_around(index: FileIndex, gaps: Sequence[Gap], change: Change) -> Stretch:
    """The stretch to be looked at anew for a change: whole statements, and all of the gaps that it touches."""
    start, end = change.start, change.old_end
    while True:
        touched = [one for one in gaps if one.start <= end and start <= one.end]
        start = min([start, *(one.start for one in touched)])
        end = max([end, *(one.end for one in touched)])
        before = next((one.end - one.kept_end for one in reversed(gaps) if one.end < start), 0)
        behind = touched[-1].end - touched[-1].kept_end if touched else before
        kept_start, kept_end = _whole_statements(index, start - before, end - behind)
        wider = kept_start + before, kept_end + behind
        if wider == (start, end):
            return Stretch(start, end, kept_start, kept_end)
        start, end = wider


def _whole_statements(index: FileIndex, start: int, end: int) -> tuple[int, int]:
    """The stretch with what it touches of top-level statements, and of lines between them."""
    lines = index.lines
    last = lines.position(end)
    if end == start or last.column > 1:
        end = lines.start(last.row + 1)
    start = lines.start(lines.position(start).row)
    for one in index.statements:
        if one.start < end and start < one.end:
            start, end = min(start, lines.start(one.first_row)), max(end, one.end)
    return start, end
