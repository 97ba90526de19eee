"""Files that cannot be read as Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import lint

BAD = {
    "an open bracket": 'x = torch.zeros(3, device="cuda"\n',
    "a statement of Python 2": 'print "loss", loss\n',
    "a merge conflict": "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> main\n",
    "a block without a body": "for batch in loader:\nprint(batch)\n",
}
GOOD = {
    "nothing": "",
    "only a comment": "# no code",
    "no newline at the end": "x = torch.zeros(3)",
    "words that are keywords in some places": "match = type = case = torch.zeros(3)\nmatch.add_(case)\n",
    "tabs and a form feed": "\x0cif torch.cuda.is_available():\n\tx = torch.zeros(3)\n",
    "names in other scripts": "größe = torch.zeros(3)\nprint(größe)\n",
    "line ends of Windows": "x = torch.zeros(3)\r\nfor _ in range(3):\r\n    x = x + 1\r\n",
}


def codes(text: str, folder: Path) -> list[str]:
    return [one.code for one in lint(f"import torch\n{text}", frozenset({"DEV900"}), folder)]


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_reported(text: str, tmp_path: Path) -> None:
    assert codes(text, tmp_path) == ["DEV900"]


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_silent(text: str, tmp_path: Path) -> None:
    assert codes(text, tmp_path) == []
