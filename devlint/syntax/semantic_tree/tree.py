"""The libcst tree of a top-level statement, made from the tree of Python's own parser."""

from __future__ import annotations

from unicodedata import is_normalized

import libcst as cst

from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.code_without_texts import without_texts
from devlint.syntax.gc_pause import paused_gc
from devlint.syntax.semantic_tree import formatted_strings  # noqa: F401 - enters the converter of f-strings
from devlint.syntax.semantic_tree.compound_statements import lines
from devlint.syntax.semantic_tree.conversion import Conversion, NotConvertible


def semantic_tree(text: str) -> cst.SimpleStatementLine | cst.BaseCompoundStatement | None:
    """Return the libcst tree of a top-level statement without its white space, comments and parentheses.

    The nodes with meaning are those that libcst's parser makes; the others are libcst's defaults, which all nodes
    share. Return None for code that only libcst's parser can read: newer grammar, `match` statements, type parameters.
    """
    if not (text.isascii() or is_normalized("NFKC", text) or is_normalized("NFKC", without_texts(text))):
        # `ast` normalises identifiers, libcst does not.
        return None
    with paused_gc():
        module = try_parse_ast(text)
        if module is None:
            return None
        try:
            made = lines(Conversion(text), module.body)
        except NotConvertible:
            return None
    return made[0] if len(made) == 1 else None
