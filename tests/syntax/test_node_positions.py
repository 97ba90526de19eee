"""A node's region, cut out of the file, is the code of the node: over every node of snippets and of real files."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import libcst as cst
import pytest

from devlint.diagnostic import Position
from devlint.syntax.index import FileIndex, Statement, index_source
from devlint.syntax.node_positions import node_positions
from devlint.syntax.source import Source, SourceError
from devlint.syntax.source_reading import read_source
from devlint.syntax.tree_walk import descend

from .corpus import CORPUS
from .snippets import LAYOUTS, NEWER

# Their regions start or end at a part of them, which has a region of its own.
BLOCKS = (
    cst.BaseSuite,
    cst.Decorator,
    cst.BaseCompoundStatement,
    cst.SimpleStatementLine,
    cst.AssignTarget,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)
OWN_PARENTHESES = (cst.Tuple, cst.GeneratorExp, cst.MatchTuple)
# Blanks, newlines and continuations: what libcst puts out for a node alone, it does not indent as in its place.
LAYOUT = re.compile(r"\\\r?\n|\s")


def cut(index: FileIndex, region: tuple[Position, Position]) -> str:
    start, end = (index.lines.starts[place.row - 1] + place.column - 1 for place in region)
    return index.source.text[start:end]


def code(statement: Statement, node: cst.CSTNode) -> str:
    if isinstance(node, cst.ParamStar):
        return "*"
    changes: dict[str, object] = {
        name: cst.MaybeSentinel.DEFAULT for name in ("comma", "semicolon") if hasattr(node, name)
    }
    if isinstance(node, cst.Arg):
        changes["whitespace_after_arg"] = cst.SimpleWhitespace("")
    if isinstance(node, OWN_PARENTHESES):
        changes |= {"lpar": node.lpar[-1:], "rpar": node.rpar[:1]}
    elif isinstance(node, (cst.BaseExpression, cst.MatchPattern)) and "lpar" in node.__dataclass_fields__:
        changes |= {"lpar": (), "rpar": ()}
    return statement.module.code_for_node(node.with_changes(**changes) if changes else node).strip()


def check(index: FileIndex) -> int:
    """Compare the region of every node with its code; tell how many were compared."""
    compared = 0
    for statement in index.statements:
        try:
            nodes = [node for node in descend(statement.tree) if not isinstance(node, BLOCKS)]
        except SourceError:
            continue
        for node, region in node_positions(statement, nodes, index).items():
            try:
                expected = code(statement, node)
            except (cst.CSTValidationError, SyntaxError):
                # It stands only with its parentheses, or only in its parent.
                continue
            found = cut(index, region)
            assert LAYOUT.sub("", found) == LAYOUT.sub("", expected), type(node).__name__
            assert found == found.strip()
            compared += 1
    return compared


@pytest.mark.parametrize("text", LAYOUTS + NEWER)
def test_every_node_of_a_snippet(text: str) -> None:
    assert check(index_source(Source.of(text))) > 0


@pytest.mark.parametrize("path", CORPUS[::2], ids=lambda path: path.name)
def test_every_node_of_a_real_file(path: Path) -> None:
    source = read_source(path)
    assert check(index_source(source)) > 0 or not source.text.strip()


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("text", "code", "start", "end"),
    [
        ("x = target", "target", (1, 5), (1, 11)),
        ("if a:\n\t\ttarget\n", "target", (2, 3), (2, 9)),
        ("é = '日本😀', target\r\n", "target", (1, 12), (1, 18)),
        ("a\r\nb\r\nx = target", "target", (3, 5), (3, 11)),
        ("a\rb\rx = target", "target", (3, 5), (3, 11)),
        ("a\n\x0c\nx = target", "target", (3, 5), (3, 11)),
        ("\x0cx = target", "target", (1, 6), (1, 12)),
        ("x = '\u2028\x0b\x85', target", "target", (1, 12), (1, 18)),
        ("x = a + \\\n  target", "target", (2, 3), (2, 9)),
        ("if a:\n  b\n  \\\n  target", "target", (4, 3), (4, 9)),
        ("x = '''\n\n''', target", "target", (3, 6), (3, 12)),
        ("@a\n# c\n@b(target)\ndef f(): pass", "target", (3, 4), (3, 10)),
        ("x = f'{y}{ target }'", "target", (1, 12), (1, 18)),
        ("try: a\nexcept (b, c) : target", "target", (2, 17), (2, 23)),
        ("def f[T](a: target): pass", "target", (1, 13), (1, 19)),
        ("x = ( (target) )", "target", (1, 8), (1, 14)),
        ("x = ( (a, b) )", "(a, b)", (1, 7), (1, 13)),
        ("x = a, b", "a, b", (1, 5), (1, 9)),
        ("x = f( (a for b in c) )", "(a for b in c)", (1, 8), (1, 22)),
        ("x = (a.\n  b( c ))", "a.\n  b( c )", (1, 6), (2, 9)),
        ("a = 1; x = target", "target", (1, 12), (1, 18)),
    ],
)
def test_rows_and_columns(bom: str, text: str, code: str, start: tuple[int, int], end: tuple[int, int]) -> None:
    index = index_source(Source.of(bom + text))
    for statement in index.statements:
        regions = node_positions(statement, [*descend(statement.tree)], index)
        if (Position(*start), Position(*end)) in regions.values():
            break
    else:
        pytest.fail(f"no node at {start}")
    assert cut(index, (Position(*start), Position(*end))) == code


def test_the_name_stands_for_a_definition() -> None:
    index = index_source(Source.of("@a\nasync def  target ():\n  pass\n"))
    (statement,) = index.statements
    assert isinstance(statement.tree, cst.FunctionDef)
    assert node_positions(statement, [statement.tree.name], index)[statement.tree.name] == (
        Position(2, 12),
        Position(2, 18),
    )


def test_a_parameter_includes_its_annotation_and_default() -> None:
    index = index_source(Source.of("def f(a: int = (1), *, b): pass"))
    (statement,) = index.statements
    found = [
        cut(index, region)
        for region in node_positions(
            statement, [node for node in descend(statement.tree) if isinstance(node, cst.Param)], index
        ).values()
    ]
    assert found == ["a: int = (1)", "b"]


def test_compound_statements_end_with_their_last_statement() -> None:
    index = index_source(Source.of("if a:\n  for b in c:\n    d ; e\n    # f\nelse:\n  g  # h\n"))
    (statement,) = index.statements
    assert isinstance(statement.tree, cst.If)
    (loop,) = statement.tree.body.body
    regions = node_positions(statement, [statement.tree, loop], index)
    assert regions[loop] == (Position(2, 3), Position(3, 10))
    assert regions[statement.tree] == (Position(1, 1), Position(6, 4))


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="Python 3.12 lets nobody raise its limit of C frames")
def test_a_thousand_strings_in_a_row() -> None:
    index = index_source(Source.of("x = " + "'a' " * 1_000 + "\n"))
    (statement,) = index.statements
    last = [node for node in descend(statement.tree) if isinstance(node, cst.SimpleString)][-1]
    assert node_positions(statement, [last], index)[last] == (Position(1, 4001), Position(1, 4004))
