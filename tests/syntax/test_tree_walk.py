"""The walks see every node that means something, once, in the order of the text, and no other."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import Source
from devlint.syntax.source_reading import read_source
from devlint.syntax.tree_walk import children, descend, dotted_name

from .corpus import CORPUS
from .snippets import LAYOUTS, NEWER


class _Everything(cst.CSTVisitor):
    def __init__(self) -> None:
        self.nodes: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.nodes.append(node)
        return True


LAYOUT = ["Whitespace", "Newline", "Comment", "EmptyLine"]
TOKENS = [
    "Comma",
    "Semicolon",
    "Colon",
    "Dot",
    "Paren",
    "Bracket",
    "Brace",
    "AssignEqual",
    "Asynchronous",
    "ParamSlash",
]
OPERATORS = (cst.BaseUnaryOp, cst.BaseBinaryOp, cst.BaseBooleanOp, cst.BaseCompOp, cst.BaseAugOp, cst.BitOr)


def means_something(node: cst.CSTNode) -> bool:
    name = type(node).__name__
    return not isinstance(node, OPERATORS) and not any(name.endswith(word) for word in LAYOUT + TOKENS)


def check(index: FileIndex) -> None:
    for statement in index.statements:
        tree = statement.tree
        everything = _Everything()
        tree.visit(everything)
        found = [*descend(tree)]
        assert {id(node) for node in found} == {id(node) for node in everything.nodes[1:] if means_something(node)}
        assert len({id(node) for node in found}) == len(found)
        by_children: list[cst.CSTNode] = []
        pending = [tree]
        while pending:
            below = [*children(pending.pop())]
            by_children += below
            pending += below
        assert {id(node) for node in by_children} == {id(node) for node in found}
        regions = node_positions(statement, found, index)
        # A definition starts, to libcst, after its decorators; suites and empty parameter lists start nowhere.
        unordered = (cst.BaseSuite, cst.Parameters, cst.FunctionDef, cst.ClassDef)
        starts = [regions[node][0] for node in found if not isinstance(node, unordered)]
        assert starts == sorted(starts)


@pytest.mark.parametrize("text", LAYOUTS + NEWER)
def test_snippets(text: str) -> None:
    check(index_source(Source.of(text)))


@pytest.mark.parametrize("path", CORPUS[1::9], ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    check(index_source(read_source(path)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@a\ndef f(b: c = d) -> e:\n  g\n", ["a", "b", "c", "d", "e", "f"]),
        ("@a\nclass A(b, c=d):\n  e\n", ["A", "a", "b", "c", "d"]),
        ("x = lambda a=b: c\n", ["a", "b", "x"]),
        ("x = [a for b in c]\n", ["a", "b", "c", "x"]),
        ("if a:\n  def f(): b\n  c\n", ["a", "c", "f"]),
    ],
)
def test_bodies_of_inner_scopes_can_be_left_out(text: str, names: list[str]) -> None:
    module = cst.parse_module(text)
    found = [node.value for node in descend(module, into_functions=False) if isinstance(node, cst.Name)]
    assert sorted(found) == names


def test_a_function_itself_is_entered() -> None:
    function = cst.parse_statement("def f():\n  a\n  def g(): b\n")
    found = [node.value for node in descend(function, into_functions=False) if isinstance(node, cst.Name)]
    assert found == ["f", "a", "g"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a", "a"),
        ("torch.nn.functional", "torch.nn.functional"),
        ("(a . b).c", "a.b.c"),
        ("a().b", None),
        ("a[0]", None),
        ("'a'.b", None),
    ],
)
def test_dotted_name(text: str, name: str | None) -> None:
    assert dotted_name(cst.parse_expression(text)) == name
