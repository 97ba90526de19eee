"""Search for the start and the end of each top-level statement of a file, with Python's own parser `ast`."""

from __future__ import annotations

import ast

from devlint.syntax.ast_facts import facts_from_ast
from devlint.syntax.ast_parsing import parse_ast
from devlint.syntax.line_starts import Lines
from devlint.syntax.statement_outline import StatementOutline, last_continued_row, skip_blanks


def ast_outline(text: str, lines: Lines) -> tuple[str | None, list[StatementOutline]]:
    """Return the docstring of a file, and an outline (facts, start, last row) of each of its top-level statements.

    Raises whatever `ast.parse` raises: SyntaxError, ValueError, RecursionError or MemoryError.
    """
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
    """Return the outline (facts, start and last row) of the statements that share one logical line."""
    return StatementOutline(facts_from_ast(group), _start(group[0], text, lines), last_row)


def _start(node: ast.stmt, text: str, lines: Lines) -> int:
    """Return the offset of a statement's first token: the `@` of its first decorator if the statement is decorated."""
    decorators = getattr(node, "decorator_list", ())
    row: int = decorators[0].lineno if decorators else node.lineno
    start = skip_blanks(text, lines.start(row))
    while decorators and text[start] != "@":
        # `ast` gives the row of the decorator's expression, which parentheses or a backslash can put below its ``@``.
        row -= 1
        start = skip_blanks(text, lines.start(row))
    return start


def _last_row(node: ast.stmt, text: str, lines: Lines) -> int:
    """Return the last row of the logical line on which a statement ends.

    A backslash may continue that line past the statement's last token.
    """
    row = node.end_lineno or node.lineno
    line = text[lines.start(row) : lines.start(row + 1)]
    if "\\" not in line:
        return row
    column = len(line.encode()[: node.end_col_offset].decode())
    return last_continued_row(lines.start(row) + column, text, lines)
