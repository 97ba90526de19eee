"""Parsing of text with Python's own parser `ast`, without printing warnings."""

from __future__ import annotations

import ast
import symtable
import warnings
from functools import lru_cache
from typing import Final

KEPT_TREES: Final = 32
"""The number of trees that are kept, since several questions are asked of one definition in a row."""


def parse_ast(text: str) -> ast.Module:
    """Return the `ast` tree of a text, and suppress the warnings that `ast.parse` prints.

    Raises whatever `ast.parse` raises.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


@lru_cache(KEPT_TREES)
def try_parse_ast(text: str) -> ast.Module | None:
    """Return the `ast` tree of a text, which nobody may change, or None if Python cannot parse the text."""
    try:
        return parse_ast(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def can_parse(text: str) -> bool:
    """Return whether Python can parse a text.

    The table of symbols is made from Python's inner tree. It takes less time than the objects of `ast` take, but it
    refuses some texts that can be parsed, such as a file with a `nonlocal` at module level.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            symtable.symtable(text, "<unknown>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return try_parse_ast(text) is not None
    return True
