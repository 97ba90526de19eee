"""The texts of conditions as findings show them, with the source locations of the conditions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from itertools import chain

import libcst as cst

from devlint.domain.path_conditions import WrittenText
from devlint.domain.placement import Place
from devlint.syntax.code_structure import structure_of
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

    def structure(self) -> Hashable:
        """Return the structure of the syntax node, and the suffix."""
        return structure_of(self.node), self.rest

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

    def structure(self) -> Hashable:
        """Return the structure of the comparison by `==`."""
        return _equality(*self._quoted()), ""

    def _written(self) -> str:
        left, right = self._quoted()
        return f"{source_line(self.place, left)} == {source_line(self.place, right)}"

    def _quoted(self) -> tuple[cst.BaseExpression, cst.BaseExpression]:
        return self.node.left, self.node.comparisons[0].comparator


def _equality(left: cst.BaseExpression, right: cst.BaseExpression) -> Hashable:
    """Return the structure of the code `left == right`."""
    return structure_of(cst.Comparison(left, [cst.ComparisonTarget(cst.Equal(), right)]))


class MatchText(ConditionText):
    """The text of the condition that a `match` subject matches a pattern: `x == 1`, `x matches Point(0, y)`."""

    __slots__ = ("pattern", "subject")

    def __init__(self, place: Place, subject: cst.BaseExpression, pattern: cst.CSTNode) -> None:
        """Store the source location, and the syntax nodes of the `match` subject and of the pattern."""
        super().__init__(place)
        self.subject = subject
        self.pattern = pattern

    def structure(self) -> Hashable:
        """Return the structure of a comparison by `==`, or those of the subject and the pattern."""
        if isinstance(self.pattern, cst.MatchValue):
            return _equality(self.subject, self.pattern.value), ""
        return structure_of(self.subject), structure_of(self.pattern)

    def _written(self) -> str:
        relation = "==" if isinstance(self.pattern, cst.MatchValue) else "matches"
        return f"{source_line(self.place, self.subject)} {relation} {source_line(self.place, self.pattern)}"

    def _quoted(self) -> tuple[cst.CSTNode, ...]:
        return self.subject, self.pattern


class RaisedText(ConditionText):
    """The text of the condition that the body of a `try` statement raises; each statement asks for its own."""

    __slots__ = ("node",)

    def __init__(self, place: Place, node: cst.Try | cst.TryStar) -> None:
        """Store the source location and the syntax node of the statement."""
        super().__init__(place)
        self.node = node

    def structure(self) -> Hashable:
        """Return the statement itself: what one statement raises tells nothing about another."""
        return self.node

    def _written(self) -> str:
        return "the body of `try` raises"

    def _quoted(self) -> tuple[cst.CSTNode, ...]:
        return ()
