"""The comments of a file and the lines they stand on, from Python's tokenizer, so that no string is taken for one."""

from __future__ import annotations

import tokenize
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from re import Pattern

import libcst as cst

from devlint.syntax.index import FileIndex
from devlint.syntax.line_starts import NEWLINE
from devlint.syntax.source import SourceError
from devlint.syntax.statement import Statement

_LAYOUT_ONLY = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_TAB_SIZE = 8


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, and the rows of the code that it stands beside.

    `alone` is true where nothing but white space precedes it on its row, `inside` where a logical line is under way.
    The rows are those of its physical line, with the multi-line strings and continuations that end on it,
    or of the whole logical line where the comment ends that.
    """

    text: str
    row: int
    column: int
    indentation: int
    alone: bool
    inside: bool
    first_row: int
    last_row: int


@dataclass(frozen=True, slots=True)
class CodeLine:
    """Rows of code that belong together: a physical line as above, or a logical line."""

    first_row: int
    last_row: int
    indentation: int


@dataclass(slots=True)
class CommentLayout:
    """The comments, physical lines and logical lines of a file, each in the order of the text."""

    comments: list[Comment] = field(default_factory=list)
    physical: list[CodeLine] = field(default_factory=list)
    logical: list[CodeLine] = field(default_factory=list)

    def add_line(self, line: CodeLine) -> None:
        """Add code that is one line for all that is asked of it."""
        self.physical.append(line)
        self.logical.append(line)


def read_comment_layout(index: FileIndex, marker: Pattern[str]) -> CommentLayout:
    """The layout of those parts of a file that hold the marker; a statement elsewhere counts as one line of code."""
    layout = CommentLayout()
    text, row = index.source.text, 1
    for statement in index.statements:
        gap = text[index.lines.start(row) : index.lines.start(statement.first_row)]
        marked = marker.search(gap) is not None
        if marked:
            _read(gap, row, layout)
        if marked or marker.search(text, statement.start, statement.end):
            code = text[index.lines.start(statement.first_row) : statement.end]
            _read(code, statement.first_row, layout, _real_comments(statement) if index.newer_grammar else None)
        else:
            layout.add_line(CodeLine(statement.first_row, statement.last_row, 0))
        row = statement.last_row + 1
    _read(text[index.lines.start(row) :], row, layout)
    return layout


def _real_comments(statement: Statement) -> frozenset[str]:
    """The comments as libcst sees them: an older tokenizer finds some in the nested strings of a newer f-string."""
    try:
        pending: list[cst.CSTNode] = [statement.module]
    except SourceError:
        return frozenset()
    found = set()
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Comment):
            found.add(node.value)
        pending.extend(node.children)
    return frozenset(found)


def _read(code: str, first_row: int, layout: CommentLayout, real_comments: Container[str] | None = None) -> None:
    """Add the layout of a piece of the file that starts on a given row."""
    # Every tokenizer knows this newline.
    rows = [row + "\n" for row in NEWLINE.split(code)]
    reader = _LayoutReader(layout, rows, first_row - 1)
    try:
        for token in tokenize.generate_tokens(iter(rows).__next__):
            if token.type != tokenize.COMMENT or real_comments is None or token.string in real_comments:
                reader.read(token)
    except (tokenize.TokenError, SyntaxError):
        # The tokenizer of an older Python on newer syntax: what it has understood so far stands.
        pass
    reader.finish()


class _LayoutReader:
    """Gathers tokens into physical and logical lines."""

    def __init__(self, layout: CommentLayout, rows: Sequence[str], rows_before: int) -> None:
        self._layout = layout
        self._rows = rows
        self._rows_before = rows_before
        self._comments: list[tuple[tokenize.TokenInfo, bool]] = []
        self._physical: CodeLine | None = None
        self._logical: CodeLine | None = None

    def read(self, token: tokenize.TokenInfo) -> None:
        """Take the next token."""
        if token.type in _LAYOUT_ONLY:
            return
        if token.type == tokenize.COMMENT:
            self._comments.append((token, self._logical is not None))
        elif token.type == tokenize.NL:
            self._end_physical(logical=None)
        elif token.type == tokenize.NEWLINE:
            self._end_physical(self._logical)
            if self._logical is not None:
                self._layout.logical.append(self._logical)
            self._logical = None
        else:
            self._physical = self._extended(self._physical, token)
            self._logical = self._extended(self._logical, token)

    def finish(self) -> None:
        """Keep what the last line has given, though it did not end."""
        self._end_physical(logical=None)

    def _extended(self, line: CodeLine | None, token: tokenize.TokenInfo) -> CodeLine:
        last_row = token.end[0] + self._rows_before
        if line is None:
            return CodeLine(token.start[0] + self._rows_before, last_row, self._indentation(token))
        return CodeLine(line.first_row, last_row, line.indentation)

    def _end_physical(self, logical: CodeLine | None) -> None:
        beside = logical or self._physical
        for token, inside in self._comments:
            row, column = token.start
            self._layout.comments.append(
                Comment(
                    text=token.string,
                    row=row + self._rows_before,
                    column=column,
                    indentation=self._indentation(token),
                    alone=not self._rows[row - 1][:column].strip(),
                    inside=inside,
                    first_row=beside.first_row if beside else row + self._rows_before,
                    last_row=beside.last_row if beside else row + self._rows_before,
                )
            )
        if self._physical is not None:
            self._layout.physical.append(self._physical)
        self._comments = []
        self._physical = None

    def _indentation(self, token: tokenize.TokenInfo) -> int:
        """How far the row of a token is indented, with tabs and form feeds as Python counts them."""
        row = self._rows[token.start[0] - 1]
        blanks = row[: len(row) - len(row.lstrip(" \t\f"))].rpartition("\f")[2]
        return len(blanks.expandtabs(_TAB_SIZE))
