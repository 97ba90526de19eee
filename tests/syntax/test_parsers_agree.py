"""Python's parser and libcst tell the same of a file: what the one finds out fast, the other finds in newer grammar."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from devlint.syntax.ast_outline import ast_outline
from devlint.syntax.libcst_outline import libcst_outline
from devlint.syntax.line_starts import Lines
from devlint.syntax.source_reading import read_source

from .corpus import CORPUS
from .snippets import LAYOUTS

FACTS = [
    "import a.b, c as d\nfrom .e import f as g\nfrom .. import h\nfrom i import *\n",
    "try:\n  import a\nexcept ImportError:\n  from b import c\n",
    "def f():\n  import a\n  global b, c\n  def g(): global d\n",
    "x = [y := z for w in v if (u := t)]\ns = lambda r, q=(p := 1): (o := 2)\n",
    "@(a := b)\ndef f(c=(d := 1)) -> (e := 2): (g := 3)\n",
    "class A((B := C).D, nn.Module, Generic[T], *E, metaclass=(F := G)): h = (i := 1)\n",
    "ﬁ = ﬀ.ﬃ\n",
    "'''doc''' 'string'\n",
    "x: int\ny: str = 1\n(z).w = 2\ndel v, (u, t.s)\n",
    "import a; import b\nimport c; d = 1\n",
]


def agree(text: str) -> bool:
    lines = Lines.of(text)
    known = libcst_outline(text, lines)
    if known is None:
        return False
    docstring, outlines = ast_outline(text, lines)
    assert known[0] == docstring
    # Python knows how deep a tree is; what libcst has parsed is not too deep for libcst.
    assert known[1] == [replace(outline, facts=replace(outline.facts, depth=0)) for outline in outlines]
    return True


@pytest.mark.parametrize("text", LAYOUTS + FACTS)
def test_snippets(text: str) -> None:
    assert agree(text)


@pytest.mark.parametrize("path", CORPUS[::3], ids=lambda path: path.name)
def test_real_files(path: Path) -> None:
    assert agree(read_source(path).text)
