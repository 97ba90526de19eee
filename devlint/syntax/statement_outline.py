"""Outline of a top-level statement: where the statement starts and ends in the text of its file."""

from __future__ import annotations

from dataclasses import dataclass

from devlint.syntax.line_starts import Lines
from devlint.syntax.statement import StatementFacts


@dataclass(frozen=True, slots=True)
class StatementOutline:
    """An outline of a top-level statement: its facts, the offset of its first token and the row on which it ends.

    The facts are the names that the statement binds and mentions.
    """

    facts: StatementFacts
    start: int
    last_row: int


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
