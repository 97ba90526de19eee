"""Evaluation of string literals in libcst trees."""

from __future__ import annotations

import libcst as cst


def string_value(node: cst.SimpleString | cst.ConcatenatedString) -> str | bytes | None:
    """Return the value of a string literal, or None if a part of the literal is an f-string."""
    if isinstance(node, cst.SimpleString):
        text = node.value
        quote = text[:3] if text[:3] in ('"""', "'''") else text[:1]
        if quote[0] in "\"'" and "\\" not in text:
            # Without prefix and escapes the value is the text between the quotes. `evaluated_value` would compile the
            # literal, which is many times slower.
            return text[len(quote) : -len(quote)]
    return node.evaluated_value
