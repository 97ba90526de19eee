"""Elementary edits of fixes: text inserted before, after or around a node, or in place of it."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.fix_context import NodeRegion

LOOSELY_BINDING = (
    cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp, cst.Lambda, cst.Await,
    cst.NamedExpr, cst.Integer, cst.Float, cst.ConcatenatedString, cst.Yield, cst.GeneratorExp,
)  # fmt: skip
"""Expressions that need parentheses before an attribute can follow them."""


def replace_node(region: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """Return the edit that replaces a node, and the parentheses around it, by `content`."""
    return region.context.edit(*region.span_with_parentheses(node), content)


def insert_before(region: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """Return the edit that inserts `content` before a node and the parentheses around it."""
    start, _ = region.span_with_parentheses(node)
    return region.context.edit(start, start, content)


def insert_after(region: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """Return the edit that inserts `content` after a node and the parentheses around it."""
    _, end = region.span_with_parentheses(node)
    return region.context.edit(end, end, content)


def between(region: NodeRegion, first: cst.CSTNode, last: cst.CSTNode, content: str) -> Edit:
    """Return the edit that replaces all the text between two nodes by `content`."""
    return region.context.edit(region.span_with_parentheses(first)[1], region.span_with_parentheses(last)[0], content)


def wrap_node(region: NodeRegion, node: cst.CSTNode, opening: str, closing: str) -> tuple[Edit, ...]:
    """Return the edits that insert one text before a node and another text after it."""
    return insert_before(region, node, opening), insert_after(region, node, closing)


def append_call(region: NodeRegion, node: cst.BaseExpression, suffix: str) -> tuple[Edit, ...]:
    """Return the edits that call a method on the value of an expression; `suffix` is the call, such as `.cpu()`.

    An expression that binds less tightly than an attribute gets parentheses.
    """
    if isinstance(node, LOOSELY_BINDING) and not node.lpar:
        return wrap_node(region, node, "(", f"){suffix}")
    return (insert_after(region, node, suffix),)


def text_with_call(region: NodeRegion, node: cst.BaseExpression, suffix: str) -> str:
    """Return the source of an expression with a method call after it; `suffix` is the call, such as `.cpu()`."""
    code = region.code(node)
    return f"({code}){suffix}" if isinstance(node, LOOSELY_BINDING) and not node.lpar else f"{code}{suffix}"
