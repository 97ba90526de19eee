"""Statements put in front of or behind others, and taken out, in the layout of the lines around them."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.sheet import NodeRegion, NoFix

_REST = re.compile(r"[ \t\f]*(#[^\r\n]*)?")
"""What may follow the last statement of a line."""


def statement_of(part: NodeRegion, node: cst.CSTNode) -> cst.CSTNode:
    """The statement in which an expression is evaluated, once: a simple one, or the compound one whose head it is in.

    Raises Unfit where something else decides how often, or whether, that head is evaluated.
    """
    below = node
    for above in (node, *part.parents(node)):
        match above:
            case cst.BaseSmallStatement():
                return above
            case cst.If(test=head) | cst.For(iter=head) if below is head and not _is_elif(part, above):
                return above
            case cst.WithItem():
                holder = part.parent(above)
                assert isinstance(holder, cst.With)
                return holder
            case cst.BaseCompoundStatement() | cst.Lambda():
                raise NoFix
        below = above
    raise NoFix


def _is_elif(part: NodeRegion, node: cst.CSTNode) -> bool:
    above = part.parent(node)
    return isinstance(above, cst.If) and above.orelse is node


def outermost_loop(
    part: NodeRegion, node: cst.CSTNode, passes: Callable[[cst.For | cst.While], bool]
) -> cst.For | cst.While | None:
    """The outermost loop around a node, in the same function, to which all loops from the innermost on pass."""
    found = None
    for above in part.parents(node):
        if isinstance(above, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(above, (cst.For, cst.While)):
            if not passes(above):
                break
            found = above
    return found


def indentation_at(part: NodeRegion, offset: int) -> str | None:
    """The blanks before a statement that begins its line; None where something else stands there."""
    blanks = part.sheet.text[part.sheet.line_start(offset) : offset]
    return blanks if not blanks.strip() else None


def put_before(part: NodeRegion, node: cst.CSTNode, *lines: str) -> Edit:
    """Statements on lines of their own in front of the one in which a node is evaluated."""
    return put_before_statement(part, statement_of(part, node), *lines)


def put_before_statement(part: NodeRegion, statement: cst.CSTNode, *lines: str) -> Edit:
    """Statements on lines of their own in front of another."""
    start, _ = part.span(statement)
    blanks = indentation_at(part, start)
    if blanks is not None:
        newline = part.sheet.newline(start)
        return part.sheet.edit(start, start, "".join(f"{line}{newline}{blanks}" for line in lines))
    if len(lines) > 1 or not isinstance(statement, cst.BaseSmallStatement):
        raise NoFix
    return part.sheet.edit(start, start, f"{lines[0]}; ")


def put_behind(part: NodeRegion, node: cst.CSTNode, *lines: str) -> Edit:
    """Statements on lines of their own behind the simple one in which a node is evaluated."""
    statement = statement_of(part, node)
    if not isinstance(statement, cst.BaseSmallStatement):
        raise NoFix
    start, end = part.span(statement)
    blanks = indentation_at(part, start)
    rest = _REST.match(part.sheet.text, end)
    behind = rest.end() if rest else end
    if blanks is None or part.sheet.text[behind : behind + 1] not in ("", "\r", "\n"):
        raise NoFix
    newline = part.sheet.newline(start)
    return part.sheet.edit(behind, behind, "".join(f"{newline}{blanks}{line}" for line in lines))


def take_out(part: NodeRegion, statement: cst.BaseSmallStatement) -> Edit:
    """The text without a statement: without its line where it stands alone, with `pass` where a block needs one."""
    line = part.parent(statement)
    if not isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
        raise NoFix
    start, end = part.span(statement)
    index = line.body.index(statement)
    if len(line.body) > 1:
        first, last = (part.span(line.body[index - 1])[1], end) if index else (start, part.span(line.body[1])[0])
        return part.sheet.edit(first, last, "")
    block = part.parent(line)
    if isinstance(line, cst.SimpleStatementSuite) or (isinstance(block, cst.IndentedBlock) and len(block.body) == 1):
        return part.sheet.edit(start, end, "pass")
    rest = _REST.match(part.sheet.text, end)
    assert rest is not None
    if indentation_at(part, start) is None:
        raise NoFix
    if rest[1]:
        return part.sheet.edit(start, rest.start(1), "")
    return part.sheet.edit(part.sheet.line_start(start), part.sheet.next_line(end), "")
