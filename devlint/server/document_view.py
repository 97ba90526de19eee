"""One of the editor's texts as it is now, with the newest analysis results moved to their current places."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.server.documents import DocumentPart, EditorDocument
from devlint.server.file_analysis import FileAnalysis, LocatedInfo
from devlint.syntax.incremental_index import Change


class DocumentView:
    """The current state of one text, and the newest analysis results for it.

    The user may have typed since the analysis. Results for unchanged code move with the code; others are hidden.
    """

    def __init__(self, document: EditorDocument, part: DocumentPart, analysis: FileAnalysis) -> None:
        self._document = document
        self._part = part
        self._analysis = analysis
        self._change = Change.between(analysis.text, document.text)

    @property
    def analysis(self) -> FileAnalysis:
        """The newest analysis results, with offsets in the analysed text."""
        return self._analysis

    def offset(self, position: types.Position) -> int:
        """Return the offset in the current document of a client's position."""
        return self._document.offset(self._part, position)

    def current_offset(self, offset: int) -> int | None:
        """Return the offset in the current document of an offset in the analysed text; None if that text is gone."""
        return self._change.carried(offset)

    def info_at(self, position: types.Position) -> LocatedInfo | None:
        """Return what is known of the smallest expression around a position, at its current offsets."""
        offset = self.offset(position)
        around = [one for one in self.infos() if one.start <= offset <= one.end]
        return min(around, key=lambda one: (one.end - one.start, one.start), default=None)

    def infos(self) -> Iterator[LocatedInfo]:
        """Yield what is known of all expressions that have not changed since the analysis, at their current offsets."""
        for one in self._analysis.infos:
            start, last = self.current_offset(one.start), self.current_offset(one.end - 1)
            if start is not None and last is not None and last - start == one.end - 1 - one.start:
                yield LocatedInfo(start, last + 1, one.info)

    def range(self, start: int, end: int) -> types.Range:
        """Return the client's range between two offsets in the current document."""
        position = self._document.positions.lines.position
        return self._document.location(position(start), position(end)).range

    def is_in_part(self, offset: int) -> bool:
        """Return whether an offset in the current document lies in this text, not in another cell of the notebook."""
        row = self._document.positions.lines.position(offset).row
        return self._document.part_at(row).uri == self._part.uri
