"""Parsing of text with Python's own parser `ast`, without printing warnings."""

from __future__ import annotations

import ast
import warnings


def parse_ast(text: str) -> ast.Module:
    """Return the `ast` tree of a text, and suppress the warnings that `ast.parse` prints.

    Raises whatever `ast.parse` raises.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def try_parse_ast(text: str) -> ast.Module | None:
    """Return the `ast` tree of a text, or None if Python cannot parse the text."""
    try:
        return parse_ast(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
