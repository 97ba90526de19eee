"""The conversion of one top-level statement from `ast` to libcst: its text, and the converter of each kind of node."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeVar

import libcst as cst

Converter: TypeAlias = "Callable[[Conversion, Any], Any]"
F = TypeVar("F", bound=Callable[..., cst.CSTNode])

_COMMENT: Final = re.compile(r"#[^\r\n]*")


class NotConvertible(Exception):
    """The exception that is raised for code that only libcst's own parser can read."""


class _Converters(dict[type[ast.AST], Converter]):
    """A table of the functions that convert each kind of node; it raises NotConvertible for other kinds."""

    def __missing__(self, kind: type[ast.AST]) -> Converter:
        raise NotConvertible(kind.__name__)


EXPRESSIONS: Final = _Converters()
"""The function that converts each kind of expression."""
SIMPLE_STATEMENTS: Final = _Converters()
"""The function that converts each kind of simple statement, of which a line may hold several."""
COMPOUND_STATEMENTS: Final = _Converters()
"""The function that converts each kind of statement that holds blocks."""


class Conversion:
    """The conversion of a text's `ast` nodes, which know their positions in the text."""

    def __init__(self, text: str) -> None:
        """Prepare the conversion of a text's nodes. `ast` counts the columns of a line in bytes of UTF-8."""
        encoded = text.encode()
        self._is_bytes = len(encoded) != len(text)
        self._data: Any = encoded if self._is_bytes else text
        # Unlike those of `str`, the lines of `bytes` end where Python's do.
        self._starts = [0, *accumulate(map(len, encoded.splitlines(keepends=True)))]
        self._has_continuations = "\\\n" in text or "\\\r" in text

    def expression(self, node: ast.expr) -> Any:
        """Return the libcst node of an expression."""
        return EXPRESSIONS[node.__class__](self, node)

    def expression_or_none(self, node: ast.expr | None) -> Any:
        """Return the libcst node of an expression that may be absent."""
        return None if node is None else EXPRESSIONS[node.__class__](self, node)

    def code(self, node: ast.expr) -> str:
        """Return the text of an expression; the parentheses around it are left out, except those of a tuple."""
        return self._text(self.start(node), self.end(node))

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset at which a node starts. Offsets count characters, or bytes if the text is not ASCII."""
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Return the offset at which a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def punctuation(self, start: int, end: int) -> str:
        """Return the text between two nodes without its comments: only brackets, commas and blanks are left."""
        return _COMMENT.sub("", self._text(start, end))

    def starts_with(self, node: ast.stmt, word: str) -> bool:
        """Return whether the text of a statement starts with a word."""
        start = self.start(node)
        return self._text(start, start + len(word)) == word

    def starts_line(self, node: ast.stmt) -> bool:
        """Return whether only indentation stands before a statement on its line."""
        if self._has_continuations:
            self._refuse_continued(node)
        start = self._starts[node.lineno - 1]
        indentation = self._data[start : start + node.col_offset]
        return not indentation or bool(indentation.isspace())

    def shares_line(self, node: ast.stmt, before: ast.stmt) -> bool:
        """Return whether a simple statement stands on the logical line of the simple statement before it."""
        if node.lineno == before.end_lineno:
            return True
        if self._has_continuations:
            self._refuse_continued(node)
        return False

    def _refuse_continued(self, node: ast.stmt) -> None:
        """Raise NotConvertible for a statement on a line that a backslash continues.

        Whether such a statement starts a logical line cannot be told from its position.
        """
        row_above = self._text(*self._starts[node.lineno - 2 : node.lineno]) if node.lineno > 1 else ""
        if row_above.rstrip("\r\n").endswith("\\"):
            raise NotConvertible("a statement after a backslash")

    def _text(self, start: int, end: int) -> str:
        """Return the characters between two offsets."""
        found = self._data[start:end]
        text: str = found.decode() if self._is_bytes else found
        return text


def converts(table: _Converters, *kinds: type[ast.AST]) -> Callable[[F], F]:
    """Return a decorator that enters a function into a table as the converter of some kinds of `ast` nodes."""

    def enter(convert: F) -> F:
        """Enter the function for each kind."""
        table.update(dict.fromkeys(kinds, convert))
        return convert

    return enter
