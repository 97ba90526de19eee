"""The index of a file: which statements it has, on which rows, and what they bind, import and mention."""

from __future__ import annotations

import gc
import sys
import warnings

import libcst as cst
import pytest

from devlint.syntax.index import Binding, FileIndex, Statement, index_source
from devlint.syntax.source import Source, SourceError


def index(text: str) -> FileIndex:
    return index_source(Source.of(text))


def only(text: str) -> Statement:
    (statement,) = index(text).statements
    return statement


def rows(text: str) -> list[tuple[int, int]]:
    return [(statement.first_row, statement.last_row) for statement in index(text).statements]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n# nothing\n", []),
        ("x = 1", [(1, 1)]),
        ("x = 1\r\ny = 2\r\n", [(1, 1), (2, 2)]),
        ("x = 1\ry = 2\r", [(1, 1), (2, 2)]),
        ("if a:\r  b\r  c\rd\r", [(1, 3), (4, 4)]),
        ("x = 1; y = 2; \nz\n", [(1, 1), (2, 2)]),
        ("x = '''\n'''; y = '''\n'''; z\nw\n", [(1, 3), (4, 4)]),
        ("x = 1; \\\ny = 2\nz\n", [(1, 2), (3, 3)]),
        ("x = 1 \\\n\ny = 2\n", [(1, 2), (3, 3)]),
        ("x = 1  # no continuation \\\ny = 2\n", [(1, 1), (2, 2)]),
        ("é = '#' \\\n\ny\n", [(1, 2), (3, 3)]),
        ("\\\nx = 1\n", [(2, 2)]),
        ("\x0cx = 1\n\x0c\ny\n", [(1, 1), (3, 3)]),
        ("x = '\x0c\u2028\x85'\ny\n", [(1, 1), (2, 2)]),
        ("# c\n@a\n# d\n\n@b(\n)\ndef f(): pass\n", [(2, 7)]),
        ("@ \\\n a\ndef f(): pass\n", [(1, 3)]),
        ("@(\n  (a))\nclass A: pass\n", [(1, 3)]),
        ("def f():\n    x\n    # inside\n\n# after\ny\n", [(1, 2), (6, 6)]),
        ("class A: x = 1; y = 2\nz\n", [(1, 1), (2, 2)]),
        ("try:\n  a\nexcept E: b\nfinally:\n  c\nd\n", [(1, 5), (6, 6)]),
        ("if a: b; \\\n  c\nd\n", [(1, 2), (3, 3)]),
        ("async def f(): await g\n", [(1, 1)]),
    ],
)
def test_rows(text: str, expected: list[tuple[int, int]]) -> None:
    assert rows(text) == expected
    for statement in index(text).statements:
        assert statement.module.code.rstrip() == statement.text.rstrip()


@pytest.mark.parametrize(
    ("text", "kind", "name"),
    [
        ("def f(): pass", "function", "f"),
        ("async def f(): pass", "function", "f"),
        ("@a\nclass A: pass", "class", "A"),
        ("import a; from b import c", "import", None),
        ("import a; x = 1", "other", None),
        ("from a import b", "import", None),
        ("if x: import a", "other", None),
        ("x = 1", "other", None),
    ],
)
def test_kind_and_name(text: str, kind: str, name: str | None) -> None:
    statement = only(text)
    assert (statement.kind, statement.name) == (kind, name)


@pytest.mark.parametrize(
    ("text", "binds"),
    [
        ("a, (b, *c), d.e, f[0] = g", {"a", "b", "c"}),
        ("a += 1", {"a"}),
        ("a: int", {"a"}),
        ("del a, b.c", {"a"}),
        ("for a in b: c = 1\nelse: d = 1", {"a", "c", "d"}),
        ("while a: b = 1", {"b"}),
        ("with a as b, c as (d, e): f = 1", {"b", "d", "e", "f"}),
        ("try: a = 1\nexcept E as e: b = 1\nelse: c = 1\nfinally: d = 1", {"a", "b", "c", "d", "e"}),
        ("if (a := 1): pass", {"a"}),
        ("x = [a := b for c in d if (e := c)]", {"x", "a", "e"}),
        ("x = lambda y: (z := y)", {"x"}),
        ("x = lambda y=(z := 1): y", {"x", "z"}),
        ("def f(a, b=(c := 1)): d = 1", {"f", "c"}),
        ("class A(b := c): d = 1", {"A", "b"}),
        ("@(a := b)\ndef f(): pass", {"a", "f"}),
        ("import a.b, c.d as e", {"a", "e"}),
        ("from a import b as c, d", {"c", "d"}),
        ("from a import *", set()),
        ("match a:\n case [b, *c]: pass\n case {'k': d, **e}: pass\n case F(g=h) as i: j = 1", set("bcdehij")),
        ("match a:\n case _: pass\n case [*_]: pass", set()),
        ("if a:\n  def f(): pass\n  class B: pass", {"f", "B"}),
    ],
)
def test_binds(text: str, binds: set[str]) -> None:
    assert only(text).binds == binds


def test_mentions_are_identifiers_of_every_sort_and_no_text() -> None:
    text = '''
@deco.rator
async def f(pos, /, arg: Note = default, *args, kw, **kwargs) -> Result:
    """docstring"""
    global shared
    import a.b as c
    from d import e as g
    x.attribute[index] = call(keyword="string", other=f"{inside!r:>{width}}")  # comment
    try: pass
    except Error as error: lambda param: None
    match y:
        case Class(key=value) | {"k": item, **rest} | [*star] if False: pass
'''
    assert only(text).mentions == set(
        "deco rator f pos arg Note default args kw kwargs Result shared a b c d e g x attribute index call keyword"
        " other inside width Error error param y Class key value item rest star".split()
    )


def test_imports_in_the_order_of_the_text_and_under_conditions() -> None:
    text = (
        "try:\n  import a.b\n  import c.d as e\nexcept ImportError:\n  from ..f.g import h as i, j\n  from . import k\n"
    )
    assert only(text).imports == (
        Binding("a", "a", None, 0, "a.b"),
        Binding("e", "c.d", None, 0, "c.d"),
        Binding("i", "f.g", "h", 2, "f.g"),
        Binding("j", "f.g", "j", 2, "f.g"),
        Binding("k", "", "k", 1, ""),
    )
    assert only("from a.b import *").imports == (Binding("*", "a.b", "*", 0, "a.b"),)
    assert only("def f():\n  import a").imports == ()


def test_names_that_functions_declare_global() -> None:
    assert only("def f():\n  global a, b\n  def g():\n    global c").globals == {"a", "b", "c"}


def test_bases_as_written() -> None:
    assert only("class A(nn.Module, Base, Generic[T], *rest, metaclass=Meta): pass").bases == (
        "nn.Module",
        "Base",
        "",
        "",
    )


def test_the_last_definition_of_a_name_counts() -> None:
    found = index("def f(): pass\nclass A: pass\ndef f(): return 1\nif x:\n  def g(): pass\n").definitions
    assert set(found) == {"f", "A"}
    assert found["f"].first_row == 3


@pytest.mark.parametrize(
    ("text", "exports"),
    [
        ("a = 1\n_b = 2\nimport c\n", {"a", "_b", "c"}),
        ("a = 1\n__all__ = ['b', \"c\"]\n", {"b", "c"}),
        ("__all__: list[str] = ['b']\n__all__ += ('c',)\n", {"b", "c"}),
        ("def __dir__(): return __all__\n__all__ = ('b',)\n", {"b"}),
        ("__all__ = ['b'] + x.__all__\n", {"__all__"}),
        ("__all__ = ['b']\n__all__.extend(x)\n", {"__all__"}),
        ("__all__ = ['b']\nif c: __all__ += ['d']\n", {"__all__"}),
    ],
)
def test_exports(text: str, exports: set[str]) -> None:
    assert index(text).exports == exports


@pytest.mark.parametrize(
    ("text", "docstring"), [("'''a\n b'''\nx", "a\n b"), ("'a' 'b'", "ab"), ("x = 'a'", None), ("", None)]
)
def test_docstring(text: str, docstring: str | None) -> None:
    assert index(text).docstring == docstring


def test_the_tree_is_parsed_once_and_on_demand() -> None:
    statement = only("x = 1; y = 2")
    assert not statement.is_parsed
    assert isinstance(statement.tree, cst.SimpleStatementLine)
    assert len(statement.tree.body) == 2
    assert statement.tree is statement.tree
    assert statement.is_parsed


def test_a_statement_that_libcst_cannot_parse_fails_alone_where_its_layout_is_needed() -> None:
    good, bad = index("x = 1\n(y): int = 2\n").statements
    assert good.module.body
    assert bad.tree
    with pytest.raises(SourceError) as caught:
        _ = bad.module
    assert caught.value.row == 2


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ("x = 1\ny = = 2\n", 2, 5),
        ("é = '😀' 1\n", 1, 9),
        ("é = 0777\n", 1, 5),
        ("x\n  y\n", 2, 2),
        ("x = (1,\n", 1, 5),
        ("é = f(a=1, 2)\n", 1, 13),
        ("print 'a'\n", 1, 1),
        ("if x:\n\ty\n        z\n", 3, 1),
    ],
)
def test_the_place_of_a_syntax_error(text: str, row: int, column: int) -> None:
    with pytest.raises(SourceError) as caught:
        index(text)
    assert caught.value.row == row
    # Versions of Python differ in how much of the construct they blame.
    assert column - 4 <= caught.value.column <= len(text.split("\n")[row - 1]) + 1
    assert "\n" not in caught.value.message


def test_the_column_of_a_syntax_error_counts_characters() -> None:
    columns = []
    for letter in "eé":
        with pytest.raises(SourceError) as caught:
            index(f"{letter} = '{letter}{letter}', 0777\n")
        columns.append(caught.value.column)
    assert columns[0] == columns[1]


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5_000 + ")" * 5_000,
        "x = " + "-" * 50_000 + "1",
        "x = a" + ".b" * 50_000,
        "type X = int\nx = " + "-" * 50_000 + "1",
        "type X = int\nx = " + "[" * 5_000 + "]" * 5_000,
        "".join(" " * depth + "if x:\n" for depth in range(300)) + " " * 300 + "y",
    ],
)
def test_code_too_deep_for_any_parser_is_an_error_and_no_crash(text: str) -> None:
    with pytest.raises(SourceError):
        _ = index(text).statements[-1].tree


def test_a_statement_too_deep_for_libcst_fails_alone() -> None:
    deep, shallow = index("x = 1" + " + 1" * 600 + "\ny = 1\n").statements
    with pytest.raises(SourceError, match="nested too deeply"):
        _ = deep.tree
    assert shallow.tree.body


def test_warnings_about_the_code_are_not_ours_to_show() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index(r"x = '\d' is 1")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        gc.enable() if enabled else gc.disable()
        index("x = 1")
        with pytest.raises(SourceError):
            index("x =")
        assert gc.isenabled() is enabled
    finally:
        gc.enable() if was_enabled else gc.disable()


NEWER = {
    (3, 11): "try: a = 1\nexcept* (E, F) as e: b\n",
    (3, 12): "@deco\nclass A[T: int](Base): x: T\n\ntype X[T] = list[T]\ndef f[*Ts, **P](): return f'{x['a']}'\n",
    (3, 13): "class A[T = int]: pass\n",
    (3, 14): "try: a = 1\nexcept E, F: b = t'{a}'\n",
}


@pytest.mark.parametrize("version", NEWER)
def test_grammar_newer_than_the_running_python(version: tuple[int, int]) -> None:
    text = "# first\n\nimport old\n\n" + NEWER[version] + "last = 1  # é"
    found = index(text)
    assert found.newer_grammar is (sys.version_info < version)
    assert (found.statements[0].first_row, found.statements[-1].last_row) == (3, text.count("\n") + 1)
    for statement in found.statements:
        assert statement.module.code == statement.text


def test_facts_of_newer_grammar() -> None:
    first, alias, last = index(NEWER[3, 12]).statements
    assert (first.kind, first.name, first.bases, first.first_row, first.last_row) == ("class", "A", ("Base",), 1, 2)
    assert (alias.kind, alias.binds, alias.mentions) == ("other", {"X"}, {"X", "T", "list"})
    assert (last.name, last.mentions) == ("f", {"f", "Ts", "P", "x"})
