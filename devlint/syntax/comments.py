"""Search for the comments of a file, and for the lines of code they stand beside, with Python's tokenizer."""

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
    """A comment, and the rows of the line of code that it stands beside.

    `alone` is true if only white space precedes the comment on its row. `inside` is true if the comment stands within
    an unfinished logical line. `first_row` to `last_row` are the rows of the comment's physical line, including
    multi-line strings and continuations that end on that line, or of the whole logical line if the comment ends it.
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
    """The rows and the indentation of one physical or logical line of code.

    A physical line includes the multi-line strings and backslash continuations that end on it.
    """

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
        """Add a line of code to the layout as both one physical line and one logical line."""
        self.physical.append(line)
        self.logical.append(line)


def read_comment_layout(index: FileIndex, marker: Pattern[str]) -> CommentLayout:
    """Return the comments and lines of code in those parts of a file that contain the pattern `marker`.

    A statement without the marker counts as a single line of code.
    """
    layout = CommentLayout()
    text, row = index.source.text, 1
    for statement in index.statements:
        gap = text[index.lines.start(row) : index.lines.start(statement.first_row)]
        marked = marker.search(gap) is not None
        if marked:
            _add_layout_of(gap, row, layout)
        if marked or marker.search(text, statement.start, statement.end):
            code = text[index.lines.start(statement.first_row) : statement.end]
            _add_layout_of(
                code, statement.first_row, layout, _real_comments(statement) if index.newer_grammar else None
            )
        else:
            layout.add_line(CodeLine(statement.first_row, statement.last_row, 0))
        row = statement.last_row + 1
    _add_layout_of(text[index.lines.start(row) :], row, layout)
    return layout


def _real_comments(statement: Statement) -> frozenset[str]:
    """Return the comments of a statement as libcst sees them.

    The tokenizer of an older Python reports a `#` in the nested strings of a newer f-string as a comment, which it is
    not.
    """
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


def _add_layout_of(
    code: str, first_row: int, layout: CommentLayout, real_comments: Container[str] | None = None
) -> None:
    """Tokenize a piece of a file that starts on the row `first_row`, and add its comments and lines to `layout`."""
    # All line ends become `\n`, the only one that every version of the tokenizer recognises.
    rows = [row + "\n" for row in NEWLINE.split(code)]
    reader = _LayoutReader(layout, rows, first_row - 1)
    try:
        for token in tokenize.generate_tokens(iter(rows).__next__):
            if token.type != tokenize.COMMENT or real_comments is None or token.string in real_comments:
                reader.read(token)
    except (tokenize.TokenError, SyntaxError):
        # An older tokenizer stops at newer syntax: the layout read before that point is kept.
        pass
    reader.finish()


class _LayoutReader:
    """A reader that groups the tokens of a file into comments, physical lines and logical lines of code."""

    def __init__(self, layout: CommentLayout, rows: Sequence[str], rows_before: int) -> None:
        self._layout = layout
        self._rows = rows
        self._rows_before = rows_before
        self._comments: list[tuple[tokenize.TokenInfo, bool]] = []
        self._physical: CodeLine | None = None
        self._logical: CodeLine | None = None

    def read(self, token: tokenize.TokenInfo) -> None:
        """Process the next token: add it to the current comments and lines, or end these lines."""
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
        """Record the current physical line and its comments, if no token for the end of that line was read.

        That token is missing if the tokenizer has stopped at an error.
        """
        self._end_physical(logical=None)

    def _extended(self, line: CodeLine | None, token: tokenize.TokenInfo) -> CodeLine:
        """Return a line of code extended to the row on which a token ends.

        If `line` is None, return a new line that covers the rows of the token.
        """
        last_row = token.end[0] + self._rows_before
        if line is None:
            return CodeLine(token.start[0] + self._rows_before, last_row, self._indentation(token))
        return CodeLine(line.first_row, last_row, line.indentation)

    def _end_physical(self, logical: CodeLine | None) -> None:
        """Record the current physical line and the comments on it, and start a new physical line.

        If the physical line ends the logical line `logical`, the comments get the rows of `logical`.
        """
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
        """Return the indentation, in columns, of the row on which a token begins.

        Tabs and form feeds count as in Python.
        """
        row = self._rows[token.start[0] - 1]
        blanks = row[: len(row) - len(row.lstrip(" \t\f"))].rpartition("\f")[2]
        return len(blanks.expandtabs(_TAB_SIZE))
