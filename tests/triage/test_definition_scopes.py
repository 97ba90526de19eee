"""The functions and classes of a file are found in every block, in the order of the text."""

from __future__ import annotations

import ast
from pathlib import Path

from devlint.triage.definition_scopes import definition_scopes

NESTED = """
@first
class A:
    def f(self, x=lambda: 3):
        if x:
            def in_if(): pass
        elif self:
            class InElif: pass
        else:
            async def in_else(): pass
        try:
            def in_try(): pass
        except ValueError:
            def in_handler(): pass
        else:
            def in_try_else(): pass
        finally:
            def in_finally(): pass
        for one in x:
            def in_for(): pass
        else:
            def in_for_else(): pass
        with x:
            while x:
                def in_while(): pass
        match x:
            case 1:
                def in_case(): pass
            case _:
                class InOther:
                    def f(self): pass
"""


def _definitions(tree: ast.AST) -> list[str]:
    """The names of all definitions below a node, in the order of the nodes."""
    found = []
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(child.name)
        found += _definitions(child)
    return found


def test_definitions_are_found_in_every_block():
    found = definition_scopes(NESTED.splitlines())
    assert [one.name.rpartition(".")[2] for one in found] == _definitions(ast.parse(NESTED))
    assert found[-1].name == "A.f.InOther.f"
    assert (found[0].name, found[0].first, found[0].function) == ("A", 2, False)


def test_nothing_of_this_project_is_left_out():
    for path in sorted(Path(__file__).parents[2].glob("devlint/interpreter/*/*.py")):
        text = path.read_text()
        found = definition_scopes(text.splitlines())
        assert [one.name.rpartition(".")[2] for one in found] == _definitions(ast.parse(text))
