"""Conversion of f-strings from their text: older versions of Python do not know where the parts of one stand."""

from __future__ import annotations

import ast
import re
from typing import Final

import libcst as cst

from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.libcst_parsing import try_parse_libcst
from devlint.syntax.semantic_tree.conversion import EXPRESSIONS, Conversion, NotConvertible, converts
from devlint.syntax.semantic_tree.literals import make_name
from devlint.syntax.semantic_tree.node_makers import node_maker

_LITERAL: Final = re.compile(r"([rR]?[fF][rR]?)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_PART: Final = re.compile(
    r"(?P<text>(?:[^{}]|\{\{|\}\})+)"
    r"|\{(?P<expression>[^{}'\"!:=#\\]+)(?:!(?P<conversion>[rsa]))?(?P<format>:(?P<specification>[^{}]*))?\}"
)
"""A text between the expressions of an f-string, or a plain expression in braces."""
_UNUSUAL: Final = re.compile(r"\\[N{}]")
"""A backslash that changes what the brace after it means."""

_make_string: Final = node_maker(cst.FormattedString, "parts", "start", "end")
_make_text: Final = node_maker(cst.FormattedStringText, "value")
_make_expression: Final = node_maker(cst.FormattedStringExpression, "expression", "conversion", "format_spec")


@converts(EXPRESSIONS, ast.JoinedStr)
def formatted_string(conversion: Conversion, node: ast.JoinedStr) -> cst.BaseExpression:
    """Return the libcst node of an f-string, or of adjacent literals with an f-string among them."""
    code = conversion.code(node)
    return _plain(code) or _parsed(code)


def _plain(code: str) -> cst.FormattedString | None:
    """Return the libcst node of a single f-string with plain expressions; None for any other f-string."""
    whole = _LITERAL.fullmatch(code)
    if whole is None:
        return None
    prefix, quote, body = whole.groups()
    if quote[0] in body or _UNUSUAL.search(body):
        return None
    parts: list[cst.BaseFormattedStringContent] = []
    end = 0
    while end < len(body):
        found = _PART.match(body, end)
        if found is None:
            return None
        part = _part(found)
        if part is None:
            return None
        parts.append(part)
        end = found.end()
    return _make_string(tuple(parts), prefix + quote, quote)


def _part(found: re.Match[str]) -> cst.BaseFormattedStringContent | None:
    """Return the libcst node of a part of an f-string; None for an expression that cannot be read alone."""
    text = found["text"]
    if text is not None:
        return _make_text(text)
    expression = _expression(found["expression"].strip())
    if expression is None:
        return None
    specification = found["specification"]
    texts = (_make_text(specification),) if specification else ()
    return _make_expression(expression, found["conversion"], texts if found["format"] else None)


def _expression(code: str) -> cst.BaseExpression | None:
    """Return the libcst node of an expression in braces; None for one that cannot be read alone."""
    if not code.isascii():
        return None
    if code.isidentifier():
        return make_name(code)
    text = f"({code}\n)"
    module = try_parse_ast(text)
    match module:
        case ast.Module(body=[ast.Expr(value=value)]):
            converted: cst.BaseExpression = Conversion(text).expression(value)
            return converted
    return None


def _parsed(code: str) -> cst.BaseExpression:
    """Return the node that libcst's parser makes of an f-string, or of adjacent literals on one or more lines."""
    match try_parse_libcst(f"({code}\n)"):
        case cst.Module(body=[cst.SimpleStatementLine(body=[cst.Expr(value=value)])]):
            return value.with_changes(lpar=(), rpar=())
    raise NotConvertible("an f-string that libcst cannot parse")
