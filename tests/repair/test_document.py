"""Nothing but what an edit says changes, however the file is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devlint.diagnostic import Applicability, Edit, Fix, Position
from devlint.repair.document import Document

from .programs import Program, check

FILES = {
    "tabs": b"import torch\n\n\ndef f(x: torch.Tensor):\n\tif True:\n\t\tx.cuda()\t# here\n\treturn x\n",
    "carriage returns": b"import torch\r\n\r\nx = torch.ones(3)\r\nx.cuda()\r\n",
    "carriage returns alone": b"import torch\rx = torch.ones(3)\rx.cuda()\r",
    "mixed line ends": b"import torch\r\nx = torch.ones(3)\nx.cuda()\r\nprint(x)\n",
    "a byte order mark": b"\xef\xbb\xbfimport torch\nx = torch.ones(3)\nx.cuda()\n",
    "latin-1": b"# coding: latin-1\nimport torch\ns = '\xe9\xe8'; x = torch.ones(3)  # \xe4\nx.cuda()  # \xfc\n",
    "form feeds": b"import torch\n\x0c\nx = torch.ones(3)\n\x0c\nx.cuda()\n",
    "no final newline": b"import torch\nx = torch.ones(3)\nx.cuda()",
    "trailing blanks": b"import torch  \nx = torch.ones(3)   \nx.cuda()   \n\n\n   ",
    "continuations": b"import torch\nx = \\\n    torch.ones(3)\nx\\\n.cuda()\n",
    "wide characters": "import torch\nname = '\U0001f600\u00e9'; x = torch.ones(3)\n'\U0001f600'; x.cuda()\n".encode(),
    "semicolons": b"import torch\nx = torch.ones(3); x.cuda(); print(x)\n",
    "one line blocks": b"import torch\nx = torch.ones(3)\nif x.dim(): x.cuda()\n",
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES.keys())
def test_every_other_byte_stays(data: bytes, tmp_path: Path) -> None:
    done = check(Program(tmp_path, {"a.py": data}, frozenset({"DEV201"})), unsafe=False)
    assert len(done.fixed) == 1
    at = data.index(b"x.cuda()") if b"x.cuda()" in data else data.index(b"x\\")
    assert done.documents["a.py"].data == data[:at] + b"x = " + data[at:]


def test_what_cannot_be_written_back_is_left_alone() -> None:
    edit = Edit("\N{GREEK SMALL LETTER ALPHA} = ", Position(2, 1), Position(2, 1))
    fix = Fix("Name it", Applicability.SAFE, (edit,))
    assert not Document("a.py", b"# coding: latin-1\nf()\n").takes(fix.edits)
    assert Document("a.py", b"f(1)\nf()\n").takes(fix.edits)
    assert not Document("a.py", b"\xff\nf()\n").takes(fix.edits)


def notebook(*cells: str) -> bytes:
    listed = [{"cell_type": "code", "metadata": {}, "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def test_cells_of_a_notebook_are_repaired_in_place(tmp_path: Path) -> None:
    data = notebook("%matplotlib inline\nimport torch", "x = torch.ones(3)\nx.cuda()  # move\nprint(x)")
    done = check_notebook(tmp_path, data)
    assert done == data.replace(b"x.cuda()  # move", b"x = x.cuda()  # move")


def check_notebook(folder: Path, data: bytes) -> bytes:
    program = Program(folder, {"a.ipynb": data}, frozenset({"DEV201"}))
    done = program.repaired(unsafe=False)
    assert len(done.fixed) == 1
    return done.documents["a.ipynb"].data


def test_a_line_that_only_ipython_reads_is_not_edited() -> None:
    data = notebook("%time x.cuda()")
    edit = Edit("x = ", Position(1, 7), Position(1, 7), 1)
    assert not Document("a.ipynb", data).takes([edit])
