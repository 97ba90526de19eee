"""Conversion of literals: numbers, strings other than f-strings, and the constants that libcst has as names."""

from __future__ import annotations

import ast
import re
from typing import Final

import libcst as cst

from devlint.syntax.semantic_tree.conversion import EXPRESSIONS, Conversion, converts
from devlint.syntax.semantic_tree.node_makers import node_maker

_PIECE: Final = re.compile(
    r"#[^\r\n]*|[bBrRuU]{0,2}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''"
    r"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')",
    re.DOTALL,
)
"""One of the adjacent string literals that make up a string, or a comment between them."""

make_name: Final = node_maker(cst.Name, "value")
_make_string: Final = node_maker(cst.SimpleString, "value")
_make_concatenation: Final = node_maker(cst.ConcatenatedString, "left", "right")
_make_ellipsis: Final = node_maker(cst.Ellipsis)
_NUMBERS: Final = {
    int: node_maker(cst.Integer, "value"),
    float: node_maker(cst.Float, "value"),
    complex: node_maker(cst.Imaginary, "value"),
}


@converts(EXPRESSIONS, ast.Constant)
def constant(conversion: Conversion, node: ast.Constant) -> cst.BaseExpression:
    """Return the libcst node of a literal."""
    value = node.value
    if value.__class__ is str or value.__class__ is bytes:
        return _string(conversion.code(node))
    number = _NUMBERS.get(value.__class__)
    if number is not None:
        return number(conversion.code(node))
    return _make_ellipsis() if value is ... else make_name(str(value))


def _string(code: str) -> cst.BaseExpression:
    """Return the libcst node of a string that may consist of adjacent literals; libcst nests them to the right."""
    quote = code[0]
    if quote == code[-1] and quote in "\"'" and code.count(quote) == 2:
        return _make_string(code)
    pieces = [piece for piece in _PIECE.findall(code) if piece[0] != "#"]
    whole: cst.BaseExpression = _make_string(pieces.pop())
    for piece in reversed(pieces):
        whole = _make_concatenation(_make_string(piece), whole)
    return whole
