"""Edits that insert lines before or after a statement, or remove a statement, in the layout of the lines around it."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.fix_context import NodeRegion, NoFix

_REST = re.compile(r"[ \t\f]*(#[^\r\n]*)?")
"""The text that may follow the last statement of a line: blanks and a comment."""


def enclosing_statement(region: NodeRegion, node: cst.CSTNode) -> cst.CSTNode:
    """Return the statement around an expression that evaluates the expression exactly once.

    It is a simple statement, or a compound statement whose head contains the expression. Raises NoFix where the head is
    evaluated more than once or only under a condition, as in `while` and `elif`.
    """
    below = node
    for above in (node, *region.ancestors(node)):
        match above:
            case cst.BaseSmallStatement():
                return above
            case cst.If(test=head) | cst.For(iter=head) if below is head and not _is_elif(region, above):
                return above
            case cst.WithItem():
                holder = region.parent(above)
                assert isinstance(holder, cst.With)
                return holder
            case cst.BaseCompoundStatement() | cst.Lambda():
                raise NoFix
        below = above
    raise NoFix


def _is_elif(region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether an `if` node is the `elif` branch of another `if` statement."""
    above = region.parent(node)
    return isinstance(above, cst.If) and above.orelse is node


def outermost_loop(
    region: NodeRegion, node: cst.CSTNode, passes: Callable[[cst.For | cst.While], bool]
) -> cst.For | cst.While | None:
    """Return the outermost of the loops around a node that satisfy `passes`, going outwards; None if there is none.

    The first loop that does not satisfy `passes`, or the function around the node, ends the search.
    """
    found = None
    for above in region.ancestors(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(above, (cst.For, cst.While)):
            if not passes(above):
                break
            found = above
    return found


def indentation_at(region: NodeRegion, offset: int) -> str | None:
    """Return the blanks before a statement that begins its line.

    Returns None if other code precedes the statement on the line.
    """
    blanks = region.context.text[region.context.line_start(offset) : offset]
    return blanks if not blanks.strip() else None


def insert_lines_before(region: NodeRegion, node: cst.CSTNode, *lines: str) -> Edit:
    """Return the edit that inserts lines before the statement that evaluates an expression."""
    return insert_lines_before_statement(region, enclosing_statement(region, node), *lines)


def insert_lines_before_statement(region: NodeRegion, statement: cst.CSTNode, *lines: str) -> Edit:
    """Return the edit that inserts lines before a statement, with the statement's indentation.

    If other code precedes the statement on its line, a single inserted line is separated from the statement by a
    semicolon; for more than one line NoFix is raised.
    """
    start, _ = region.span(statement)
    blanks = indentation_at(region, start)
    if blanks is not None:
        newline = region.context.newline(start)
        return region.context.edit(start, start, "".join(f"{line}{newline}{blanks}" for line in lines))
    if len(lines) > 1 or not isinstance(statement, cst.BaseSmallStatement):
        raise NoFix
    return region.context.edit(start, start, f"{lines[0]}; ")


def insert_lines_after(region: NodeRegion, node: cst.CSTNode, *lines: str) -> Edit:
    """Return the edit that inserts lines after the simple statement that contains a node, indented like the statement.

    Raises NoFix for a statement that shares its line with other statements.
    """
    statement = enclosing_statement(region, node)
    if not isinstance(statement, cst.BaseSmallStatement):
        raise NoFix
    start, end = region.span(statement)
    blanks = indentation_at(region, start)
    rest = _REST.match(region.context.text, end)
    behind = rest.end() if rest else end
    if blanks is None or region.context.text[behind : behind + 1] not in ("", "\r", "\n"):
        raise NoFix
    newline = region.context.newline(start)
    return region.context.edit(behind, behind, "".join(f"{newline}{blanks}{line}" for line in lines))


def remove_statement(region: NodeRegion, statement: cst.BaseSmallStatement) -> Edit:
    """Return the edit that removes a simple statement.

    The whole line is removed if it holds nothing else. The only statement of a block is replaced by `pass`.
    """
    line = region.parent(statement)
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        raise NoFix
    start, end = region.span(statement)
    index = line.body.index(statement)
    if len(line.body) > 1:
        first, last = (region.span(line.body[index - 1])[1], end) if index else (start, region.span(line.body[1])[0])
        return region.context.edit(first, last, "")
    block = region.parent(line)
    if isinstance(line, cst.SimpleStatementSuite) or (isinstance(block, cst.IndentedBlock) and len(block.body) == 1):
        return region.context.edit(start, end, "pass")
    rest = _REST.match(region.context.text, end)
    assert rest is not None
    if indentation_at(region, start) is None:
        raise NoFix
    if rest[1]:
        return region.context.edit(start, rest.start(1), "")
    return region.context.edit(region.context.line_start(start), region.context.next_line(end), "")
