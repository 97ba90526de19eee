"""A document as it is now, beside what was last seen of it: somebody may have typed since."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from devlint.server.documents import Document, Part
from devlint.server.views import Shown, View
from devlint.syntax.incremental_index import Change


class Glance:
    """Answers for one of the editor's texts."""

    def __init__(self, document: Document, part: Part, view: View) -> None:
        self._document = document
        self._part = part
        self._view = view
        self._change = Change.between(view.text, document.text)

    @property
    def view(self) -> View:
        """What was last seen."""
        return self._view

    def offset(self, position: types.Position) -> int:
        """The offset of a client's position in the document as it is now."""
        return self._document.offset(self._part, position)

    def carried(self, offset: int) -> int | None:
        """Where what was seen at an offset stands now."""
        return self._change.carried(offset)

    def fact_at(self, position: types.Position) -> Shown | None:
        """The fact about the smallest piece of code around a position, at its place now."""
        offset = self.offset(position)
        around = [one for one in self.facts() if one.start <= offset <= one.end]
        return min(around, key=lambda one: (one.end - one.start, one.start), default=None)

    def facts(self) -> Iterator[Shown]:
        """All facts about code that has not changed since, at their places now."""
        for one in self._view.facts:
            start, last = self.carried(one.start), self.carried(one.end - 1)
            if start is not None and last is not None and last - start == one.end - 1 - one.start:
                yield Shown(start, last + 1, one.fact)

    def range(self, start: int, end: int) -> types.Range:
        """The client's range between two offsets."""
        position = self._document.ruler.lines.position
        return self._document.location(position(start), position(end)).range

    def is_in_part(self, offset: int) -> bool:
        """Whether a place of the program is in the text that is asked about."""
        row = self._document.ruler.lines.position(offset).row
        return self._document.part_at(row).uri == self._part.uri
