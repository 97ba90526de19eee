"""Syntax index of a file: its top-level statements and the names that they bind, import and mention.

Making the index needs no libcst tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from devlint.syntax.ast_outline import ast_outline
from devlint.syntax.ast_parsing import can_parse, parse_ast
from devlint.syntax.exports import declared_exports
from devlint.syntax.gc_pause import paused_gc
from devlint.syntax.libcst_outline import libcst_outline
from devlint.syntax.line_starts import Lines
from devlint.syntax.source import Source, SourceError
from devlint.syntax.statement import Binding, Statement, StatementFacts, StatementKind
from devlint.syntax.statement_outline import FileOutline

__all__ = ["Binding", "FileIndex", "Statement", "StatementFacts", "StatementKind", "index_source", "is_plain_python"]


@dataclass(frozen=True)
class FileIndex:
    """The top-level statements of a file and the names that they bind, known before any statement is analysed.

    `newer_grammar` is True if the file uses grammar that the running Python's own parser and tokenizer do not know.
    """

    source: Source
    lines: Lines
    statements: tuple[Statement, ...]
    docstring: str | None
    newer_grammar: bool = False

    @cached_property
    def definitions(self) -> Mapping[str, Statement]:
        """A mapping from names to top-level function and class definitions; of several with one name, the last."""
        return {statement.name: statement for statement in self.statements if statement.name is not None}

    @cached_property
    def bound(self) -> frozenset[str]:
        """All names that the statements of the file bind at module level."""
        return frozenset().union(*(statement.binds for statement in self.statements))

    def statement_at(self, row: int) -> Statement | None:
        """Return the top-level statement on a row; None where no statement is."""
        return next((one for one in self.statements if one.first_row <= row <= one.last_row), None)

    @cached_property
    def _displayed(self) -> frozenset[Statement]:
        """The last statement of each cell of a notebook; empty for other files."""
        cells = self.source.cells
        if cells is None:
            return frozenset()
        following = (*self.statements[1:], None)
        return frozenset(
            one
            for one, after in zip(self.statements, following, strict=True)
            if after is None or not cells.in_one_cell(one.last_row, after.first_row)
        )

    def is_displayed(self, statement: Statement) -> bool:
        """Return whether a notebook displays the value of a statement: that of the last expression of a cell."""
        return statement in self._displayed

    @cached_property
    def exports(self) -> frozenset[str]:
        """The names that the file exports: those in a literal `__all__`, else all names bound at module level."""
        declared = declared_exports(self.statements)
        return self.bound if declared is None else declared


_WRONG_ESCAPES: Final = ("(unicode error)", "(value error)")
"""The beginnings of the messages about texts with an escape that Python cannot decode."""


def index_source(source: Source, *, newer: bool = True) -> FileIndex:
    """Return the syntax index (the top-level statements and their names) of a file.

    If `newer` is true, a file that the running Python cannot parse is parsed with libcst, which is slower but knows
    newer grammar. Raises SourceError, with its position, for a file that does not parse.
    """
    lines = Lines.of(source.text)
    return _index_with(source, lines, _outline(source, lines, newer=newer))


def outline_source(source: Source) -> FileOutline:
    """Return the outline of a file; raises SourceError, with its position, for a file that does not parse."""
    return _outline(source, Lines.of(source.text), newer=True)


def index_outlined(source: Source, outline: FileOutline) -> FileIndex:
    """Return the syntax index of a file whose outline is known already."""
    return _index_with(source, Lines.of(source.text), outline)


def _outline(source: Source, lines: Lines, *, newer: bool) -> FileOutline:
    """Return the outline of a file; raises SourceError for a file that does not parse (see `index_source`)."""
    with paused_gc():
        try:
            return FileOutline(*ast_outline(source.text, lines))
        except SyntaxError as error:
            # Wrong indentation and escapes are errors in newer grammar too, and libcst would not report them.
            lax = not newer or isinstance(error, IndentationError) or error.msg.startswith(_WRONG_ESCAPES)
            fallback = None if lax else libcst_outline(source.text, lines)
            if fallback is None:
                raise _syntax_error(error, source, lines) from None
            return FileOutline(*fallback, newer_grammar=True)
        except (RecursionError, MemoryError):
            raise source.error("the file cannot be parsed: it is nested too deeply") from None
        except ValueError as error:
            raise source.error(f"the file cannot be parsed: {error}") from None


def _index_with(source: Source, lines: Lines, outline: FileOutline) -> FileIndex:
    """Return the index of a file whose lines and outline are given."""
    statements = tuple(
        Statement(
            facts=one.facts,
            first_row=lines.position(one.start).row,
            last_row=one.last_row,
            source=source,
            start=one.start,
            end=lines.start(one.last_row + 1),
        )
        for one in outline.statements
    )
    return FileIndex(source, lines, statements, outline.docstring, outline.newer_grammar)


def is_plain_python(text: str) -> bool:
    """Return whether the running Python can parse a text; its index is then made without an error."""
    with paused_gc():
        return can_parse(text)


def _syntax_error(error: SyntaxError, source: Source, lines: Lines) -> SourceError:
    """Convert a SyntaxError to a SourceError whose row and column exist in the file."""
    row = min(error.lineno or 1, len(lines.starts))
    column = _column_in_ascii(error, source.text) or error.offset or 1
    return source.error(f"the file cannot be parsed: {error.msg}", row, max(1, min(column, lines.width(row) + 1)))


def _column_in_ascii(error: SyntaxError, text: str) -> int | None:
    """Return the column, in characters, of a syntax error whose column Python may have counted in bytes.

    For that, every non-ASCII character is replaced by an ASCII one, so that bytes and characters are the same, and the
    text is parsed again. Return None if the text is ASCII or the error does not occur again.
    """
    if text.isascii():
        return None
    try:
        parse_ast(re.sub(r"[^\x00-\x7f]", "x", text))
    except SyntaxError as twin:
        return twin.offset if (twin.msg, twin.lineno) == (error.msg, error.lineno) else None
    except (ValueError, RecursionError, MemoryError):
        pass
    return None
