"""The texts of conditions as findings show them, with the source locations of the conditions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from itertools import chain

import libcst as cst

from devlint.domain.path_conditions import WrittenText
from devlint.domain.placement import Place
from devlint.syntax.source_code import source_code, words_in


def source_line(place: Place, node: cst.CSTNode) -> str:
    """Return the source text of a syntax node, in the statement of a source location, on one line."""
    return " ".join(source_code(place.unit, node).split())


class ConditionText(WrittenText):
    """The text of a condition, and where the program asks for it."""

    __slots__ = ("_text", "_words", "place")

    def __init__(self, place: Place) -> None:
        """Store the source location of the condition."""
        self.place = place
        self._text: str | None = None
        self._words: tuple[str, ...] | None = None

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._written()
        return self._text

    def words(self) -> tuple[str, ...]:
        """Return the names and literals in the text, but not `None`, which another text may have as its suffix."""
        if self._words is None:
            found = chain.from_iterable(map(words_in, self._quoted()))
            self._words = tuple(word for word in found if word != "None")
        return self._words

    def source(self) -> Hashable:
        """Return the class of the text and the syntax nodes whose source code it contains."""
        return type(self), *map(id, self._quoted())

    @abstractmethod
    def _written(self) -> str:
        """Generate the text."""

    @abstractmethod
    def _quoted(self) -> tuple[cst.CSTNode, ...]:
        """Return the syntax nodes whose source code the text contains, in their order."""


class SourceText(ConditionText):
    """The source text of a condition, followed by a suffix such as ` is None`."""

    __slots__ = ("node", "rest")

    def __init__(self, place: Place, node: cst.CSTNode, rest: str = "") -> None:
        """Store the source location, the syntax node, and the suffix that is printed after its source."""
        super().__init__(place)
        self.node = node
        self.rest = rest

    def source(self) -> Hashable:
        """Return the syntax node and the suffix."""
        return id(self.node), self.rest

    def _written(self) -> str:
        return source_line(self.place, self.node) + self.rest

    def _quoted(self) -> tuple[cst.CSTNode, ...]:
        return (self.node,)


class EqualityText(ConditionText):
    """The text of a comparison by `==` or `!=`, printed as `left == right` for both operators."""

    __slots__ = ("node",)

    def __init__(self, place: Place, node: cst.Comparison) -> None:
        """Store the source location and the syntax node of the comparison."""
        super().__init__(place)
        self.node = node

    def _written(self) -> str:
        left, right = self._quoted()
        return f"{source_line(self.place, left)} == {source_line(self.place, right)}"

    def _quoted(self) -> tuple[cst.CSTNode, ...]:
        return self.node.left, self.node.comparisons[0].comparator


class MatchText(ConditionText):
    """The text of the condition that a `match` subject matches a pattern: `x == 1`, `x matches Point(0, y)`."""

    __slots__ = ("pattern", "subject")

    def __init__(self, place: Place, subject: cst.CSTNode, pattern: cst.CSTNode) -> None:
        """Store the source location, and the syntax nodes of the `match` subject and of the pattern."""
        super().__init__(place)
        self.subject = subject
        self.pattern = pattern

    def _written(self) -> str:
        relation = "==" if isinstance(self.pattern, cst.MatchValue) else "matches"
        return f"{source_line(self.place, self.subject)} {relation} {source_line(self.place, self.pattern)}"

    def _quoted(self) -> tuple[cst.CSTNode, ...]:
        return self.subject, self.pattern
