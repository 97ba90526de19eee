"""Search for the functions and classes in a file, and for the rows on which each of them stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devlint.syntax.ast_parsing import try_parse_ast
from devlint.syntax.ipython_magics import cell_as_python

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")
"""The fields of statements that hold other statements, in the order of the text."""


@dataclass(frozen=True, slots=True)
class DefinitionScope:
    """A function or class: its dotted name, and the first and last row of its definition, decorators included."""

    name: str
    first: int
    last: int
    function: bool


def definition_scopes(lines: Sequence[str], *, cell: bool = False) -> list[DefinitionScope]:
    """Return the functions and classes of a file or notebook cell, outer ones before inner ones.

    Return an empty list if the code cannot be parsed.
    """
    text = "\n".join(lines)
    tree = try_parse_ast(cell_as_python(text) if cell else text)
    return [] if tree is None else list(_scopes_below(tree, ""))


def innermost_scope(found: Sequence[DefinitionScope], row: int) -> DefinitionScope | None:
    """Return the innermost of some functions and classes that contains a row, or None if none of them does."""
    return next((scope for scope in reversed(found) if scope.first <= row <= scope.last), None)


def _scopes_below(tree: ast.AST, prefix: str) -> Iterator[DefinitionScope]:
    """Yield the functions and classes defined below a syntax tree; `prefix` is put before their names."""
    waiting: list[tuple[ast.AST, str]] = [(tree, prefix)]
    while waiting:
        node, prefix = waiting.pop()
        if isinstance(node, _DEFINITIONS):
            prefix += node.name
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield DefinitionScope(prefix, first, node.end_lineno or node.lineno, not isinstance(node, ast.ClassDef))
            prefix += "."
        below = [child for block in _BLOCKS for child in getattr(node, block, ())]
        waiting += [(child, prefix) for child in reversed(below)]
