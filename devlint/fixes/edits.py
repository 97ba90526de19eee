"""The edits that fixes are made of: something put behind, before, around or in place of a node."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.sheet import NodeRegion

LOOSE = (
    cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp, cst.Lambda, cst.Await,
    cst.NamedExpr, cst.Integer, cst.Float, cst.ConcatenatedString, cst.Yield, cst.GeneratorExp,
)  # fmt: skip
"""Expressions behind which an attribute cannot stand without parentheses around them."""


def replace(part: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """`content` in place of a node and the parentheses around it."""
    return part.sheet.edit(*part.around(node), content)


def before(part: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """`content` in front of a node."""
    start, _ = part.around(node)
    return part.sheet.edit(start, start, content)


def behind(part: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """`content` right behind a node."""
    _, end = part.around(node)
    return part.sheet.edit(end, end, content)


def between(part: NodeRegion, first: cst.CSTNode, last: cst.CSTNode, content: str) -> Edit:
    """`content` in place of all that stands between two nodes."""
    return part.sheet.edit(part.around(first)[1], part.around(last)[0], content)


def wrap(part: NodeRegion, node: cst.CSTNode, opening: str, closing: str) -> tuple[Edit, ...]:
    """A node between two pieces of text."""
    return before(part, node, opening), behind(part, node, closing)


def method(part: NodeRegion, node: cst.BaseExpression, suffix: str) -> tuple[Edit, ...]:
    """A method called on the value of an expression: `suffix` is `.cpu()` or the like."""
    if isinstance(node, LOOSE) and not node.lpar:
        return wrap(part, node, "(", f"){suffix}")
    return (behind(part, node, suffix),)


def method_text(part: NodeRegion, node: cst.BaseExpression, suffix: str) -> str:
    """The text that such a call has."""
    code = part.code(node)
    return f"({code}){suffix}" if isinstance(node, LOOSE) and not node.lpar else f"{code}{suffix}"
