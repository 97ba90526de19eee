"""The texts of conditions as findings show them, with the source locations of the conditions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import libcst as cst

from devlint.domain.placement import Place
from devlint.syntax.source_code import source_code


def source_line(place: Place, node: cst.CSTNode) -> str:
    """Return the source text of a syntax node, in the statement of a source location, on one line."""
    return " ".join(source_code(place.unit, node).split())


class ConditionText(ABC):
    """The text of a condition, and where the program asks for it. The text is generated only when it is printed."""

    __slots__ = ("_text", "place")

    def __init__(self, place: Place) -> None:
        """Store the source location of the condition."""
        self.place = place
        self._text: str | None = None

    def __str__(self) -> str:
        if self._text is None:
            self._text = self._written()
        return self._text

    @abstractmethod
    def _written(self) -> str:
        """Generate the text."""


class SourceText(ConditionText):
    """The source text of a condition, followed by a suffix such as ` is None`."""

    __slots__ = ("node", "rest")

    def __init__(self, place: Place, node: cst.CSTNode, rest: str = "") -> None:
        """Store the source location, the syntax node, and the suffix that is printed after its source."""
        super().__init__(place)
        self.node = node
        self.rest = rest

    def _written(self) -> str:
        return source_line(self.place, self.node) + self.rest


class EqualityText(ConditionText):
    """The text of a comparison by `==` or `!=`, printed as `left == right` for both operators."""

    __slots__ = ("node",)

    def __init__(self, place: Place, node: cst.Comparison) -> None:
        """Store the source location and the syntax node of the comparison."""
        super().__init__(place)
        self.node = node

    def _written(self) -> str:
        right = self.node.comparisons[0].comparator
        return f"{source_line(self.place, self.node.left)} == {source_line(self.place, right)}"


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
