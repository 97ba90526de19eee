"""Error recovery for texts that do not parse: each unparsable statement is analysed as it was when it last parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from devlint.syntax.incremental_index import Change, is_parsable, reindex_source
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source import Source, SourceError


class AlignedSpan(NamedTuple):
    """A span of the text in the editor, and the corresponding span of the parsable text that is analysed."""

    start: int
    end: int
    analysed_start: int
    analysed_end: int


@dataclass(frozen=True, slots=True)
class UnparsableSpan:
    """A span of the editor's text that does not parse, and the span of the analysed text that is analysed in its stead.

    Both spans consist of whole top-level statements.
    """

    start: int
    end: int
    analysed_start: int
    analysed_end: int
    change: Change
    """The change from the analysed span to the editor's span, with offsets from the start of each span."""

    def shifted(self, characters: int, analysed: int) -> UnparsableSpan:
        """Return the span moved by `characters` in the editor's text and by `analysed` in the analysed text."""
        start, end = self.start + characters, self.end + characters
        return UnparsableSpan(start, end, self.analysed_start + analysed, self.analysed_end + analysed, self.change)


class RecoveredText:
    """A text that is open in the editor, and the parsable text that is analysed in its stead.

    `text` is what the editor shows. `analysed` is the same text, except that statements that do not parse are replaced
    by their last parsable state. `error` is the syntax error in `text`, or None if there is no error.
    """

    def __init__(self, text: str, make_source: Callable[[str], Source], known: FileIndex | None = None) -> None:
        """Parse the text; if `known`, an earlier index of the file, is given, reuse the unchanged statements in it."""
        self._make_source = make_source
        self.text = self.analysed = text
        self.error: SourceError | None = None
        self._spans: tuple[UnparsableSpan, ...] = ()
        self._index: FileIndex | None = None
        self._parse_first(text, known)

    @property
    def index(self) -> FileIndex:
        """The syntax index (the top-level statements) of the analysed text.

        Raises SourceError if the text has never parsed.
        """
        if self._index is None:
            assert self.error is not None
            raise self.error
        return self._index

    @property
    def is_unparsed(self) -> bool:
        """Whether the text has never parsed, so that nothing can be analysed."""
        return self._index is None

    @property
    def has_unparsable_spans(self) -> bool:
        """Whether some statements do not parse, so that their last parsable state is analysed instead."""
        return bool(self._spans)

    def update(self, text: str) -> None:
        """Replace the editor's text by the given text, and parse the statements that have changed."""
        if text == self.text:
            return
        if self._index is None:
            self._parse_first(text, None)
            return
        try:
            self._index = self._reindexed(self._index, text)
        except SourceError as error:
            self.error = error
            self._recover(self._index, text)
        else:
            self.analysed, self._spans, self.error = text, (), None
        self.text = text

    def editor_offset(self, offset: int) -> int | None:
        """Return the offset in the editor's text of the character at an offset in the analysed text.

        Return None if the editor no longer shows that character.
        """
        shift = 0
        for span in self._spans:
            if offset < span.analysed_start:
                break
            if offset < span.analysed_end:
                inner = span.change.carried(offset - span.analysed_start)
                return None if inner is None else span.start + inner
            shift = span.end - span.analysed_end
        return offset + shift

    def _parse_first(self, text: str, known: FileIndex | None) -> None:
        """Parse the text for the first time, or again as long as no version of the text has parsed.

        If `known`, the index of another version of the file, is given, reuse its unchanged statements.
        """
        self.text = self.analysed = text
        try:
            source = self._make_source(text)
            self._index, self.error = index_source(source) if known is None else reindex_source(known, source), None
        except SourceError as error:
            self.error = error

    def _recover(self, index: FileIndex, text: str) -> None:
        """Update the analysed text and the unparsable spans after a change to a text that does not parse as a whole."""
        change = Change.between(self.text, text)
        aligned = _span_around(index, self._spans, change)
        before = [one for one in self._spans if one.end < aligned.start]
        after = [one for one in self._spans if one.start > aligned.end]
        new_end = aligned.end + change.shift
        edited = text[aligned.start : new_end]
        patched = self.analysed[: aligned.analysed_start] + edited + self.analysed[aligned.analysed_end :]
        added: list[UnparsableSpan] = []
        try:
            # Parse the span alone first: that is faster than the whole text, and fails for most half-typed statements.
            known = self._reindexed(index, patched) if is_parsable(edited) else None
        except SourceError:
            known = None
        if known is None:
            difference = Change.between(self.analysed[aligned.analysed_start : aligned.analysed_end], edited)
            added = [UnparsableSpan(aligned.start, new_end, aligned.analysed_start, aligned.analysed_end, difference)]
            patched = self.analysed
        shifted = [one.shifted(change.shift, len(patched) - len(self.analysed)) for one in after]
        self._spans, self.analysed = (*before, *added, *shifted), patched
        self._index = known or index

    def _reindexed(self, index: FileIndex, text: str) -> FileIndex:
        """Return the syntax index of a changed text, reusing the unchanged statements of an earlier index."""
        return reindex_source(index, self._make_source(text))


def _span_around(index: FileIndex, spans: Sequence[UnparsableSpan], change: Change) -> AlignedSpan:
    """Return the span to parse again after a change, as a span of the editor's text and one of the analysed text.

    The span consists of whole statements, and contains all unparsable spans that the change touches.
    """
    start, end = change.start, change.old_end
    while True:
        touched = [one for one in spans if one.start <= end and start <= one.end]
        start = min([start, *(one.start for one in touched)])
        end = max([end, *(one.end for one in touched)])
        before = next((one.end - one.analysed_end for one in reversed(spans) if one.end < start), 0)
        behind = touched[-1].end - touched[-1].analysed_end if touched else before
        analysed_start, analysed_end = _whole_statements(index, start - before, end - behind)
        wider = analysed_start + before, analysed_end + behind
        if wider == (start, end):
            return AlignedSpan(start, end, analysed_start, analysed_end)
        start, end = wider


def _whole_statements(index: FileIndex, start: int, end: int) -> tuple[int, int]:
    """Return the given span of a text, extended until it consists of whole lines and whole top-level statements."""
    lines = index.lines
    last = lines.position(end)
    if end == start or last.column > 1:
        end = lines.start(last.row + 1)
    start = lines.start(lines.position(start).row)
    for one in index.statements:
        if one.start < end and start < one.end:
            start, end = min(start, lines.start(one.first_row)), max(end, one.end)
    return start, end
