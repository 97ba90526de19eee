"""Tests of drivers that a project itself offers: tests, `__main__` blocks, examples in docstrings."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from .test_command import confirm_folder

NET = '''
    import torch
    from torch import nn


    class Positions(nn.Module):
        """Adds positions.
        EXAMPLE
        """

        def __init__(self, shape) -> None:
            super().__init__()
            self.table = torch.zeros(512, shape.size_of_this_kind)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.table[: x.size(1)]


    class Shape:
        def __init__(self, size) -> None:
            self.size_of_this_kind = size
'''
TEST = """
    import torch

    from net import Positions, Shape


    def test_positions():
        assert Positions(Shape(8))(torch.ones(2, 4, 8)).shape == (2, 4, 8)
"""
EXAMPLE = """
        >>> net = Positions(Shape(8))
        >>> net(torch.ones(2, 4, 8)).shape
        torch.Size([2, 4, 8])
"""
MAIN = """

    if __name__ == "__main__":
        print(Positions(Shape(8))(torch.ones(2, 4, 8)).shape)
"""


def judged(folder: Path, **files: str) -> dict[str, Any]:
    """Return the judgement on the only finding of a project with some files."""
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
    done = confirm_folder(folder, "--output-format", "json", "net.py")
    [found] = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_a_test_of_the_project_confirms(tmp_path: Path) -> None:
    found = judged(tmp_path, net=NET, test_net=TEST)
    assert (found["verdict"], found["driver_origin"]) == ("confirmed", "tests")
    assert found["driver"] == "pytest --devlint=move test_net.py::test_positions\n"
    assert found["seen_at"] == {"filename": str(tmp_path / "net.py"), "row": 16}


def test_the_main_block_confirms(tmp_path: Path) -> None:
    found = judged(tmp_path, net=NET + MAIN)
    assert (found["verdict"], found["driver_origin"]) == ("confirmed", "main")
    assert "def test_example():\n    print(Positions(Shape(8))" in found["driver"]


def test_the_example_of_a_docstring_confirms(tmp_path: Path) -> None:
    found = judged(tmp_path, net=NET.replace("        EXAMPLE\n", EXAMPLE))
    assert (found["verdict"], found["driver_origin"]) == ("confirmed", "docstring")
    assert "    net = Positions(Shape(8))\n    net(torch.ones(2, 4, 8)).shape\n" in found["driver"]


def test_a_test_that_fails_for_another_reason_confirms_nothing(tmp_path: Path) -> None:
    failing = TEST.replace("        assert", '        raise RuntimeError("no positions today")\n        assert')
    found = judged(tmp_path, net=NET.replace("shape.size_of_this_kind", "shape.other()[1:2, ...].no"), test_net=failing)
    assert found["verdict"] == "not-buildable"
