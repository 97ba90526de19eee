"""The tree from Python's own parser is the tree of libcst's parser, up to layout, and gets its layout when asked."""

from __future__ import annotations

import sys
from pathlib import Path

import libcst as cst
import pytest

from devlint.syntax.index import index_source
from devlint.syntax.libcst_parsing import try_parse_libcst
from devlint.syntax.semantic_tree.tree import semantic_tree
from devlint.syntax.source import Source, SourceError
from devlint.syntax.source_code import source_code, words_in
from devlint.syntax.source_reading import read_source
from devlint.syntax.statement import Statement
from devlint.syntax.tree_walk import children, descend

from .corpus import CORPUS
from .snippets import LAYOUTS, NEWER

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from trees import difference

SUBSCRIPTS = [
    *"x[(a)] x[(a),(b)] x[(a,b)] x[(a),] x[((a),)] x[(a,b),c] x[((a,b),c)] x[(a,b),(c)] x[()] x[(),]".split(),
    *"x[()[0],1] x[(a)[0],1] x[((a)[0],1)] x[*a] x[*(a),] x[(*a,)] x[:,None] x[(a)+1:,(b)] x[('a''b')]".split(),
    *"x[(a).b,(c)] x[(a,)] x[(yield)] x[((a,b))] x[((a),(b))] x[(((a),b))] x[(a)(b),(c)] x[a:b,] x[::]".split(),
    *"x[a::b] x[f'a','b'] x[(f'a','b')] x[a:=1] x[(a:=1),b]".split(),
    "x[(a # )\n,b)]",
    "x[(a) # (\n,b]",
    "x[(a for a in b), c]",
    "x[((a for a in b), c)]",
    "x[lambda: (a, b), c]",
    "x[(a), b if c else (d)]",
]
STRINGS = [
    "x = 'a' 'b' \"c\" '''d'''",
    "x = ('a' # \"\n 'b')",
    "x = 'a\\'' 'b'",
    "x = r'\\d' 'a'",
    "x = b'a' Rb'b'",
    "x = u'a', '', '' '', '''a''b''', ''''a''', \"'\", ''''''",
    "x='\\\na'",
    "x = ('a'\n f'{b}'\n 'c')",
    "x = (f'a' # b\n)",
    "x = (f'''a\n{b}\n''')",
    "x = f'{a=}', f'{a!r:{b}}', (f'{c}')",
    "x = '…' + y  # ½",
    "x = 'ü' 'ö'; y = f'ä{z}'; ñ = 'ß'",
    "def f():\r\n  a\r\n  b; c\r\n  '''d\r\ne'''\r\n",
]
FORMATTED_STRINGS = [
    "f'a{b}c{{d}}{e!r:>10}', f'{a:{b}}', f'{ a }', f'{a!r}', f'{a:.2f}%', rF'{a}', Fr'\\d{a}', f'', f'{{}}'",
    'f"""x\n{\na\n}""", f"{a}\'{b}", f\'{a:"<5}\'',
    "f'{{{a}}}{{', f'a{{b{c}}}d', f'{a,}', f'{a, *b}', f'{x:}', f'{(yield)}', f'{lambda_}', f'{None}{True}'",
    "f'{a.b(c, 1)[2, :].d}{-e + 0x1F}', f'{f(x for x in y)}', f'{[a for b in c]}', f'{a if b else c}'",
    "f'{a == b}', f'{a != b}', f'{a[1:2]}', f'{(lambda: 0)}', f'{a=}', f'{a!r:{b}>{c}}', f'{d[\"e\"]}'",
    "f'\\N{DIGIT ONE}{a}', f'\\\\{a}', f'{a}\\n', f'ü{ñ}{x}', f'{ñ.ö(1)}'",
    "f'{a:}}}', f'{a}}}', f'{a:%Y-%m}'",
]
BLOCKS = [
    "if a: b\nelif c: d\nelse: e",
    "if a:\n  b\nelse:\n  if c: d",
    "if a:\n b\nelse:\n if c:\n  d\n elif e: f\n else: g",
    "def f():\n\tif a:\n\t\tb; c\n\td; e;\n\tf",
    "class A: x = 1; y = 2",
    "try: a\nexcept: b",
    "try:\n a\nfinally:\n b",
    "while a: b\nelse: c",
    "x = '''\na''' ; y = '''\nb'''; z\n",
    "if a:\n\n  # b; c\n\n  d",
    "if (a and\n  b): c; d",
    "if a:\n  b = c + \\\n    d  # 。\n  # é。\n  e\n  f; g",
    "a;",
]
OTHERS = [
    "del a,",
    "del (a),",
    "del (a # ,\n)",
    "del (a,)",
    "del (a), b",
    "del a[1, 2]",
    "with (a, b): c",
    "with (a): c",
    "with (a as b, c as d,): e",
    "with (a, b) as c: d",
    "with a, (b): c",
    "with (yield): c",
    "f(a, *b, c=1, *d, **e)",
    "f(**a, b=1)",
    "f(a=1, *b)",
    "f((a for a in b), d=1)",
    "f(a for a in b)",
    "class A(b, *c, metaclass=d, **e): pass",
    "class A(*b): pass",
    "class A(**b): pass",
    "class A(): pass",
    "def f(a, b=1, /, c=2, *d, e, f=3, **g): pass",
    "def f(*, a): pass",
    "def f(a, /): pass",
    "x = lambda *a, **b: 0, lambda a=1, /: 0",
    "from . import a\n",
    "from .... import a as b",
    "from .a.b import *",
    "import a.b.c as d, e",
    "a and b and c or d and not (e and f)",
    "a < b <= c is d is not e in f not in g != h",
    "a @ b ** -c // d % e << f >> g & h | i ^ ~j",
    "a = b = *c, d",
    "a: b",
    "raise\n",
    "raise a from b",
    "x = {**a, 'b': c}, {*a, b}, [*a]",
    "x = 1_000, 0xFF, 1e5, 2J, .5, 1., -1",
    "[[a async for b in c if d if e] for f in g for h in i]",
    "x = ...; None; True",
]
LEFT_TO_LIBCST = [
    "match a:\n case b: c",
    "def f[T](): pass",
    "type X = int",
    "ﬁ = 1",
    "if a: \\\n  b\n",
    "if a:\n  b; \\\n  c\n",
]


def only(text: str) -> Statement:
    (statement,) = index_source(Source.of(text)).statements
    return statement


def agree(text: str) -> bool:
    """Compare the tree of a statement with libcst's; tell whether there was something to compare."""
    tree, module = semantic_tree(text), try_parse_libcst(text)
    if tree is None or module is None:
        return False
    assert difference(tree, module.body[0]) is None
    return True


@pytest.mark.parametrize("text", SUBSCRIPTS + STRINGS + FORMATTED_STRINGS + BLOCKS + OTHERS)
def test_snippets(text: str) -> None:
    assert agree(text)


@pytest.mark.parametrize("text", LAYOUTS + NEWER)
def test_layouts(text: str) -> None:
    for statement in index_source(Source.of(text)).statements:
        agree(statement.text)


@pytest.mark.parametrize("text", LEFT_TO_LIBCST)
def test_what_only_libcst_can_read_is_left_to_it(text: str) -> None:
    assert semantic_tree(text) is None
    assert only(text).tree.deep_equals(cst.parse_module(text).body[0])


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    compared = [agree(one.text) for one in index_source(read_source(path)).statements if not one.too_deep]
    assert compared.count(False) <= len(compared) / 10


@pytest.mark.parametrize("text", SUBSCRIPTS + STRINGS + FORMATTED_STRINGS + BLOCKS + OTHERS)
def test_no_node_with_meaning_stands_in_two_places(text: str) -> None:
    tree = semantic_tree(text)
    assert tree is not None
    nodes = [tree, *descend(tree)]
    assert len({id(node) for node in nodes}) == len(nodes)


@pytest.mark.parametrize("text", SUBSCRIPTS + STRINGS + FORMATTED_STRINGS + BLOCKS + OTHERS)
def test_the_same_nodes_get_their_layout_when_it_is_asked_for(text: str) -> None:
    statement = only(text)
    nodes = [statement.tree, *descend(statement.tree)]
    below = [[*children(node)] for node in nodes]
    assert statement.module.code == text
    assert statement.module.body[0] is statement.tree
    after = [statement.tree, *descend(statement.tree)]
    assert all(one is other for one, other in zip(nodes, after, strict=True))
    assert [[*children(node)] for node in nodes] == below
    assert statement.module.deep_equals(cst.parse_module(text))


def test_a_tree_made_after_its_layout_is_the_exact_one() -> None:
    statement = only("x = ( a )  # b\n")
    module = statement.module
    assert statement.tree is module.body[0]


def test_the_code_of_a_node_is_as_written() -> None:
    statement = only("x = f( a,b ) [(1)] # c\n")
    call = next(node for node in descend(statement.tree) if isinstance(node, cst.Subscript))
    assert source_code(statement, call) == "f( a,b ) [(1)]"


def test_code_that_libcst_cannot_parse_has_a_tree_but_no_layout() -> None:
    statement = only("(x): int = f( 1 )\n")
    call = next(node for node in descend(statement.tree) if isinstance(node, cst.Call))
    assert source_code(statement, call) == "f(1)"
    with pytest.raises(SourceError):
        _ = statement.module


def test_the_words_of_a_node_are_names_and_texts_but_no_comments() -> None:
    statement = only("x(A.b, 'C', f'D{e}', # g\n h=1)")
    words = [*words_in(statement.tree)]
    assert words == ["x", "A", "b", "'C'", "D", "e", "h"]
