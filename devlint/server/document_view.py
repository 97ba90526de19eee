"""A view of one text in the editor as it is now, with the newest analysis results moved to their current offsets."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.server.documents import DocumentPart, EditorDocument
from devlint.server.file_analysis import FileAnalysis, LocatedInfo
from devlint.syntax.incremental_index import Change


class DocumentView:
    """The current state of one text in the editor, with the newest analysis results for that text.

    The user may have typed since the analysis. Results for unchanged code move with the code; results for changed code
    are hidden.
    """

    def __init__(self, document: EditorDocument, part: DocumentPart, analysis: FileAnalysis) -> None:
        self._document = document
        self._part = part
        self._analysis = analysis
        self._change = Change.between(analysis.text, document.text)

    @property
    def analysis(self) -> FileAnalysis:
        """The newest analysis results for the text, with offsets in the text as it was when it was analysed."""
        return self._analysis

    def offset(self, position: types.Position) -> int:
        """Return the offset in the current document that an LSP position in the text stands for."""
        return self._document.offset(self._part, position)

    def current_offset(self, offset: int) -> int | None:
        """Return the current offset of the character at an offset in the analysed text; None if it was edited away."""
        return self._change.carried(offset)

    def info_at(self, position: types.Position) -> LocatedInfo | None:
        """Return the description (device and dtype) of the smallest expression around a position.

        The description has the current offsets of the expression. Return None if no described expression is there.
        """
        offset = self.offset(position)
        around = [one for one in self.infos() if one.start <= offset <= one.end]
        return min(around, key=lambda one: (one.end - one.start, one.start), default=None)

    def infos(self) -> Iterator[LocatedInfo]:
        """Yield the descriptions of all expressions that are unchanged since the analysis, with current offsets.

        A description tells in words the device and the dtype of the values of an expression.
        """
        for one in self._analysis.infos:
            start, last = self.current_offset(one.start), self.current_offset(one.end - 1)
            if start is not None and last is not None and last - start == one.end - 1 - one.start:
                yield LocatedInfo(start, last + 1, one.info)

    def range(self, start: int, end: int) -> types.Range:
        """Return the LSP range between two offsets in the current document."""
        position = self._document.positions.lines.position
        return self._document.location(position(start), position(end)).range

    def is_in_part(self, offset: int) -> bool:
        """Return whether an offset in the current document lies in this text, not in another cell of its notebook."""
        row = self._document.positions.lines.position(offset).row
        return self._document.part_at(row).uri == self._part.uri
