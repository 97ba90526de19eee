"""Outline of a top-level statement: where the statement starts and ends in the text of its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from devlint.syntax.line_starts import Lines
from devlint.syntax.statement import Binding, StatementFacts


@dataclass(frozen=True, slots=True)
class StatementOutline:
    """An outline of a top-level statement: its facts, the offset of its first token and the row on which it ends.

    The facts are the names that the statement binds and mentions.
    """

    facts: StatementFacts
    start: int
    last_row: int


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The outlines of a file's top-level statements, and its docstring: all of its index that takes long to find.

    `newer_grammar` is True if the file uses grammar that the running Python's own parser does not know.
    """

    docstring: str | None
    statements: Sequence[StatementOutline]
    newer_grammar: bool = False

    def to_plain(self) -> tuple[object, ...]:
        """Return the outline as tuples, sets, texts and numbers, which another process can be sent."""
        return self.docstring, self.newer_grammar, [_to_plain(one) for one in self.statements]

    @staticmethod
    def from_plain(data: tuple[Any, ...]) -> FileOutline:
        """Return the outline that `to_plain` has written."""
        docstring, newer_grammar, statements = data
        return FileOutline(docstring, [*map(_from_plain, statements)], newer_grammar)


def _to_plain(outline: StatementOutline) -> tuple[object, ...]:
    """Return the outline of a statement as plain data."""
    facts = outline.facts
    return (
        (facts.kind, facts.name, facts.binds, facts.mentions),
        [(one.name, one.module, one.attribute, one.level, one.loads) for one in facts.imports],
        (facts.globals, facts.bases, facts.depth),
        outline.start,
        outline.last_row,
    )


def _from_plain(data: tuple[Any, ...]) -> StatementOutline:
    """Return the outline of a statement that plain data hold."""
    (kind, name, binds, mentions), imports, (declared, bases, depth), start, last_row = data
    bound = tuple(Binding(*one) for one in imports)
    return StatementOutline(StatementFacts(kind, name, binds, mentions, bound, declared, bases, depth), start, last_row)


def last_continued_row(end: int, text: str, lines: Lines) -> int:
    """Return the last row of the logical line whose last token ends at an offset; backslashes may continue the line."""
    row = lines.position(max(end - 1, 0)).row
    while row < len(lines.starts):
        rest = text[end : lines.start(row + 1)].rstrip("\r\n")
        if "#" in rest or not rest.endswith("\\"):
            break
        row += 1
        end = lines.start(row)
    return row


def skip_blanks(text: str, start: int) -> int:
    """Return the offset of the first character at or after `start` that is not a space, a tab or a form feed."""
    while text[start] in " \t\f":
        start += 1
    return start
