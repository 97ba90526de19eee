"""Update of the syntax index of a file after an edit; parsed statements that did not change are kept."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from devlint.syntax.ast_outline import ast_outline
from devlint.syntax.gc_pause import paused_gc
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.line_starts import Lines
from devlint.syntax.source import Source
from devlint.syntax.statement import Statement
from devlint.syntax.statement_outline import StatementOutline


@dataclass(frozen=True, slots=True)
class Change:
    """The smallest single edit that turns one text into another.

    The characters `start` to `old_end` of the old text become the characters `start` to `new_end` of the new text.
    """

    start: int
    old_end: int
    new_end: int

    @classmethod
    def between(cls, old: str, new: str) -> Change:
        """Return the smallest single edit that turns the old text into the new one."""
        start = _common(old, new)
        rest = min(len(old), len(new)) - start
        tail = _common_tail(old, new, rest)
        return cls(start, len(old) - tail, len(new) - tail)

    @property
    def shift(self) -> int:
        """The number of characters by which the edit has moved the text that follows it."""
        return self.new_end - self.old_end

    def carried(self, offset: int) -> int | None:
        """Convert the offset of a character in the old text to its offset in the new text; None if it was replaced."""
        if offset < self.start:
            return offset
        if offset >= self.old_end:
            return offset + self.shift
        return None


def reindex_source(previous: FileIndex, source: Source) -> FileIndex:
    """Return the syntax index of an edited file; statements of `previous`, an earlier index of the file, are reused.

    The statements of `previous` are moved to their new positions, so `previous` must not be used afterwards. Raises
    SourceError if the file does not parse; `previous` is then unchanged.
    """
    index = _patched(previous, source) if not previous.newer_grammar else None
    if index is None:
        index = _with_known_statements(index_source(source, newer=previous.newer_grammar), previous)
    return index


def is_parsable(text: str) -> bool:
    """Return whether Python can parse a text by itself, as a sequence of complete statements."""
    try:
        ast_outline(text, Lines.of(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _patched(previous: FileIndex, source: Source) -> FileIndex | None:
    """Return the index of an edited file, made by parsing only the statements around the edit.

    The other statements are taken from `previous`, the index before the edit. Return None if the text around the edit
    cannot be parsed alone.
    """
    old, new = previous.source.text, source.text
    change = Change.between(old, new)
    front = [one for one in previous.statements if _stands_before(one, change, old, new)]
    back = [one for one in previous.statements[len(front) :] if _stands_behind(one, change, old)]
    start = front[-1].end if front else 0
    end = back[0].start + change.shift if back else len(new)
    middle = new[start:end]
    try:
        with paused_gc():
            docstring, outlines = ast_outline(middle, Lines.of(middle))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if front:
        docstring = previous.docstring
    elif not outlines and back:
        return None
    lines = Lines.of(new)
    rows = lines.position(start).row - 1
    parsed = [_statement(one, start, rows, source, lines) for one in outlines]
    for kept in front:
        kept.move(source, 0, 0)
    if back:
        down = lines.position(end).row - back[0].first_row
        for kept in back:
            kept.move(source, change.shift, down)
    return FileIndex(source, lines, (*front, *parsed, *back), docstring)


def _stands_before(statement: Statement, change: Change, old: str, new: str) -> bool:
    """Return whether a statement, including the end of its last line, lies entirely before an edit."""
    end = statement.end
    if end > change.start or end == 0 or old[end - 1] not in "\r\n":
        return False
    return not (old[end - 1] == "\r" and new[end : end + 1] == "\n")


def _stands_behind(statement: Statement, change: Change, old: str) -> bool:
    """Return whether a statement, including the end of the line above it, lies entirely behind an edit."""
    start = statement.start
    return start > change.old_end and old[start - 1] in "\r\n"


def _statement(outline: StatementOutline, offset: int, rows: int, source: Source, lines: Lines) -> Statement:
    """Make a statement of the whole source from its outline in a part of the source that was parsed alone.

    The part begins `offset` characters and `rows` rows into the source.
    """
    start, last_row = offset + outline.start, rows + outline.last_row
    end = lines.start(last_row + 1)
    return Statement(outline.facts, lines.position(start).row, last_row, source, start, end)


def _with_known_statements(index: FileIndex, previous: FileIndex) -> FileIndex:
    """Return an index in which statements of `previous`, an earlier index, replace those with the same text.

    The statements of the earlier index may have libcst trees, which then need not be parsed again.
    """
    known: dict[str, list[Statement]] = defaultdict(list)
    for one in reversed(previous.statements):
        known[one.text].append(one)
    statements = []
    for one in index.statements:
        same = known.get(one.text)
        statements.append(same.pop() if same else one)
    for kept, one in zip(statements, index.statements, strict=True):
        if kept is not one:
            kept.move(one.source, one.start - kept.start, one.first_row - kept.first_row)
    return FileIndex(index.source, index.lines, tuple(statements), index.docstring, index.newer_grammar)


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_tail(one: str, other: str, limit: int) -> int:
    """Return the length of the common suffix of two texts, but at most `limit`."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
