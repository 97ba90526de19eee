"""Tests of the walk over trees of Python's own parser, against the walk of the standard library."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from devlint.syntax.ast_walk import walk_ast

LEFT_OUT = (ast.alias, ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop)
"""The nodes that tell nothing of what code does with its values."""

SNIPPETS = (
    "def f(a, *b, c: int = 1, **d) -> None:\n    return a if b else [x for x in c if x]",
    "match x:\n    case {'a': [1, *rest], **m} if m:\n        pass\n    case C(y=None) | str() as z:\n        pass",
    "try:\n    import a.b as c\nexcept (A, B) as e:\n    raise\nelse:\n    global g\nfinally:\n    del x[1:2, ...]",
    "async def f():\n    async with a as b, c:\n        yield await d\n    async for i in e:\n        x: int = -i",
    "class A(B, metaclass=M):\n    x = lambda y=1, /, *, z=2: {**y, 'k': f'{z!r:>{w}}'}\n    a < b <= c and not d",
)


@pytest.mark.parametrize("text", [*SNIPPETS, Path(ast.__file__).read_text(encoding="utf-8")])
def test_visits_the_nodes_of_the_standard_walk_in_its_order(text: str) -> None:
    tree = ast.parse(text)
    assert walk_ast(tree) == [one for one in ast.walk(tree) if not isinstance(one, LEFT_OUT)]
