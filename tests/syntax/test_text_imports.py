"""The imports that a text shows are those that its syntax tree has, and perhaps some more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from devlint.syntax.source_reading import read_source
from devlint.syntax.text_imports import text_imports

from .corpus import CORPUS


def imports_of_tree(text: str) -> set[tuple[int, str, str]]:
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {(0, one.name, "") for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.level, node.module or "", name) for name in ("", *(one.name for one in node.names))}
    return found


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_all_imports_of_real_files_are_found(path: Path) -> None:
    text = read_source(path).text
    assert imports_of_tree(text) <= {tuple(one) for one in text_imports(text)}


@pytest.mark.parametrize(
    "text",
    [
        "import a.b as c, d",
        "from . import a, b as c",
        "from ..a.b import *",
        "from.a import(b)",
        "if x: import a; from b import c",
        "from a import (  # a (comment), with more\n    b,\n    # another, c\n    d as e,\n)",
        "import a, \\\n    b",
        "from a \\\n    import b, \\\n    c",
        "def f():\r\n    import a\r\n    from b import (c,\r\n        d)",
        "try:\n\n    import a\nexcept E: from . b import c",
    ],
)
def test_imports_in_all_shapes(text: str) -> None:
    assert {tuple(one) for one in text_imports(text)} == imports_of_tree(text)
