"""The top-level statements of a file as Python's own parser sees them: where each starts and ends."""

from __future__ import annotations

import ast

from devlint.syntax.ast_facts import facts_from_ast
from devlint.syntax.ast_parsing import parse_ast
from devlint.syntax.line_starts import Lines
from devlint.syntax.statement_outline import StatementOutline, last_continued_row, skip_blanks


def ast_outline(text: str, lines: Lines) -> tuple[str | None, list[StatementOutline]]:
    """The docstring and the statements of a file. Raises what `ast.parse` raises."""
    tree = parse_ast(text)
    outlines: list[StatementOutline] = []
    group: list[ast.stmt] = []
    last_row = 0
    for node in tree.body:
        if group and node.lineno > last_row:
            outlines.append(_outline(group, last_row, text, lines))
            group = []
        group.append(node)
        last_row = _last_row(node, text, lines)
    if group:
        outlines.append(_outline(group, last_row, text, lines))
    return ast.get_docstring(tree, clean=False), outlines


def _outline(group: list[ast.stmt], last_row: int, text: str, lines: Lines) -> StatementOutline:
    return StatementOutline(facts_from_ast(group), _start(group[0], text, lines), last_row)


def _start(node: ast.stmt, text: str, lines: Lines) -> int:
    """The offset of the first token: the ``@`` of the first decorator, else that of the statement itself."""
    decorators = getattr(node, "decorator_list", ())
    row: int = decorators[0].lineno if decorators else node.lineno
    start = skip_blanks(text, lines.start(row))
    while decorators and text[start] != "@":
        # The decorator stands in parentheses or behind a continuation, on a later line than its ``@``.
        row -= 1
        start = skip_blanks(text, lines.start(row))
    return start


def _last_row(node: ast.stmt, text: str, lines: Lines) -> int:
    """The row that ends the logical line on which a statement ends: a continuation may follow the last token."""
    row = node.end_lineno or node.lineno
    line = text[lines.start(row) : lines.start(row + 1)]
    if "\\" not in line:
        return row
    column = len(line.encode()[: node.end_col_offset].decode())
    return last_continued_row(lines.start(row) + column, text, lines)
