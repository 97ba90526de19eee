"""Elementary text edits for fixes: insert text before, after or around a syntax node, or replace the node."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.fix_context import NodeRegion
from devlint.syntax.tree_walk import LOOSELY_BINDING


def replace_node(region: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """Return the edit that replaces a syntax node, and the parentheses around that node, by `content`."""
    return region.context.edit(*region.span_with_parentheses(node), content)


def insert_before(region: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """Return the edit that inserts `content` before a syntax node and the parentheses around that node."""
    start, _ = region.span_with_parentheses(node)
    return region.context.edit(start, start, content)


def insert_after(region: NodeRegion, node: cst.CSTNode, content: str) -> Edit:
    """Return the edit that inserts `content` after a syntax node and the parentheses around that node."""
    _, end = region.span_with_parentheses(node)
    return region.context.edit(end, end, content)


def between(region: NodeRegion, first: cst.CSTNode, last: cst.CSTNode, content: str) -> Edit:
    """Return the edit that replaces all the text between two syntax nodes by `content`."""
    return region.context.edit(region.span_with_parentheses(first)[1], region.span_with_parentheses(last)[0], content)


def wrap_node(region: NodeRegion, node: cst.CSTNode, opening: str, closing: str) -> tuple[Edit, ...]:
    """Return the edits that insert the text `opening` before a syntax node and the text `closing` after it."""
    return insert_before(region, node, opening), insert_after(region, node, closing)


def append_call(region: NodeRegion, node: cst.BaseExpression, suffix: str) -> tuple[Edit, ...]:
    """Return the edits that append a method call to an expression; `suffix` is the call, such as `.cpu()`.

    The expression is put in parentheses where Python needs them.
    """
    if isinstance(node, LOOSELY_BINDING) and not node.lpar:
        return wrap_node(region, node, "(", f"){suffix}")
    return (insert_after(region, node, suffix),)


def text_with_call(region: NodeRegion, node: cst.BaseExpression, suffix: str) -> str:
    """Return the source text of an expression followed by a method call; `suffix` is the call, such as `.cpu()`.

    The expression is put in parentheses where Python needs them.
    """
    code = region.code(node)
    return f"({code}){suffix}" if isinstance(node, LOOSELY_BINDING) and not node.lpar else f"{code}{suffix}"
