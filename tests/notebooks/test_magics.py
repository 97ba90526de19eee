from __future__ import annotations

import pytest

from devlint.syntax.ipython_magics import cell_as_python


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1", "x = 1"),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls -l\ny", "if x:\n    pass\ny"),
        ("!!ls", "pass"),
        ("files = !ls *.pt", "files = get_ipython()"),
        ("a.b[0], c = %env HOME", "a.b[0], c = get_ipython()"),
        ("x?", "pass"),
        ("torch.nn.Linear??", "pass"),
        ("?x", "pass"),
        ("%time y = model(x)", "if 1: y = model(x)"),
        ("%timeit model(x)", "if 1:   model(x)"),
        ("%timeit -n 10 -r 3 model(x)", "if 1:              model(x)"),
        ("%time for x in y: f(x)", "pass"),
        ("%time", "pass"),
        ("%%time\ny = model(x)", "\ny = model(x)"),
        ("\n%%capture out --no-stderr\n%time f()\n", "\n\nif 1: f()\n"),
        ("%%bash\nls | wc\n", "\n\n"),
        ("%%html\n<b>\n</b>", "\n\n"),
        ("!pip install \\\n    torch\nx", "pass\n\nx"),
        ("%env A=1\r\nx = 1\r\n", "pass\r\nx = 1\r\n"),
    ],
)
def test_what_only_ipython_understands_is_replaced(cell, python):
    assert cell_as_python(cell) == python
    assert cell_as_python(cell).count("\n") == cell.count("\n")


@pytest.mark.parametrize(
    "before",
    [
        "x = (\n    7\n%s\n)\n",
        'x = """\n%s\n"""\n',
        "x = '''\n# ' \\'''\n%s\n'''\n",
        "x = f('a\\'', # (\n%s\n)\n",
        "x = 7 \\\n%s\n",
        "y = '#' + \"(\"\nx = (7\n%s)\n",
    ],
)
def test_a_line_within_a_statement_is_left_alone(before):
    line = "% b"
    cell = "%magic\n" + before % line
    assert line in cell_as_python(cell)


def test_what_is_neither_python_nor_a_magic_stays_to_be_told():
    assert cell_as_python("x = = 1\n%magic\n") == "x = = 1\npass\n"
