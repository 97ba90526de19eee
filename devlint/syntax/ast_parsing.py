"""Parse text with Python's own `ast`, without warnings."""

from __future__ import annotations

import ast
import warnings


def parse_ast(text: str) -> ast.Module:
    """`ast.parse` without its warnings, which are the user's compiler's to show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def try_parse_ast(text: str) -> ast.Module | None:
    """The tree of a text, None where Python cannot parse it."""
    try:
        return parse_ast(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
