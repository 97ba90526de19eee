"""Fixes of findings as differences of lines: what a fix takes out of the source, and what it puts there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from devlint.diagnostic import Diagnostic, Edit, Position
from devlint.output.report_context import LineReader

_CONTEXT = 1
"""The unchanged lines before and after a change that are shown."""


class Change(Enum):
    """What a fix does to a line; the value is the sign of a unified diff."""

    KEPT = " "
    REMOVED = "-"
    ADDED = "+"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a difference: what happens to it, its text, and its number in the source before, or after if added."""

    change: Change
    text: str
    number: int


def fix_diff(diagnostic: Diagnostic, lines: LineReader) -> Iterator[DiffLine | None]:
    """Yield the lines that the fix of a finding changes, with a line of context; None stands for lines left out.

    Nothing is yielded for a finding without a fix, and for a source that no longer has the lines of the edits.
    """
    if diagnostic.fix is None:
        return
    filename, edits = diagnostic.region.filename, sorted(diagnostic.fix.edits, key=lambda one: one.cell or 0)
    for number, (cell, together) in enumerate(groupby(edits, key=lambda one: one.cell)):
        before = list(lines(filename, cell))
        after = _edited(before, list(together))
        if after is not None:
            yield from (None,) if number else ()
            yield from _difference(before, after)


def _difference(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine | None]:
    """Yield the lines in which two versions of a text differ, each part with a line of context."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_CONTEXT)):
        yield from (None,) if number else ()
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (DiffLine(Change.KEPT, before[row], row + 1) for row in range(old_start, old_end))
                continue
            yield from (DiffLine(Change.REMOVED, before[row], row + 1) for row in range(old_start, old_end))
            yield from (DiffLine(Change.ADDED, after[row], row + 1) for row in range(new_start, new_end))


def _edited(lines: Sequence[str], edits: Sequence[Edit]) -> list[str] | None:
    """Return the lines of a text after some edits; None if the text has no such positions."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    text = "\n".join(lines)

    def offset(position: Position) -> int:
        return starts[position.row - 1] + position.column - 1

    for edit in sorted(edits, key=lambda one: (one.start, one.end), reverse=True):
        if not 1 <= edit.start.row <= edit.end.row <= len(lines):
            return None
        text = f"{text[: offset(edit.start)]}{edit.content}{text[offset(edit.end) :]}"
    return text.replace("\r\n", "\n").split("\n")
