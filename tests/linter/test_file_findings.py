"""The result for a file is plain data, and depends on the program, not on which files were analysed before."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from devlint.interpreter.program.program import Program
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.file_findings import FileFindings
from devlint.linter.json_records import from_json, to_json
from devlint.linter.program_analysis import report_on
from devlint.linter.rule_loader import all_rules

CODES = frozenset(rule.code for rule in all_rules())
PROJECT = {
    "package/__init__.py": "from .registry import *\nfrom .blocks import Block\n",
    "package/registry.py": """
import torch
TABLES = {}
DEVICE = torch.device("cpu")
def register(name):
    def put(function):
        TABLES[name] = function
        return function
    return put
def use(device):
    global DEVICE
    DEVICE = device
""",
    "package/blocks.py": """
import torch
from torch import nn
from . import registry
from .registry import register, DEVICE

@register("mask")
def mask():
    return torch.ones(3)

class Block(nn.Module):
    scale = torch.ones(3)
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 3)
        self.table = torch.zeros(3)
    def forward(self, x):
        return self.body(x) + self.table

def example():
    return torch.ones(3, device="cuda") + torch.ones(3, device=registry.DEVICE)

def moved():
    return Block().cuda()(torch.ones(1, 3))
""",
    "defaults.py": """
import torch
from package import registry
torch.set_default_device("cuda")
torch.set_default_dtype(torch.float64)
registry.use(torch.device("cuda"))
registry.DEVICE = torch.device("cuda")
MADE = torch.ones(3)
""",
    "patches.py": """
import torch
from package import Block
def forward(self, x):
    return self.body(x.cuda())
Block.forward = forward
Block.scale = torch.ones(3, device="cuda")
""",
    "train.py": """
import torch
from package import *
from package import blocks, TABLES
from package.blocks import Block, example, moved
def step(x):
    if x.device == "cuda":
        return x
    for _ in range(3):
        y = x.to("cuda")
    return y + Block.scale
if __name__ == "__main__":
    example()
    moved()
    step(torch.ones(3))
    print(TABLES["mask"]().cuda() + torch.ones(3))
    blocks.example()
""",
    "other.py": """
import torch
from package import registry, Block
def late():
    return registry.TABLES["mask"]() + torch.ones(3, device="cuda")
def scaled():
    return Block.scale + torch.ones(3, device="cuda")  # noqa: DEV101
""",
    "broken.py": "def f(:\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def _analyser(folder: Path) -> FileAnalyser:
    return FileAnalyser(Program([(folder / name, name) for name in PROJECT], [folder]), CODES)


@with_deep_stack
def _results(folder: Path, names: list[str]) -> dict[str, FileFindings]:
    """The results for some files of the project, analysed in this order."""
    analyser = _analyser(folder)
    return {name: analyser.analyse((folder / name).resolve()) for name in names}


def test_the_project_holds_bugs_that_several_files_reach(folder: Path):
    results = _results(folder, list(PROJECT))
    report = report_on(list(results.values()), _analyser(folder).program, CODES)
    assert not report.errors
    found = {(one.code, one.region.filename) for one in report.diagnostics}
    assert {("DEV101", "package/blocks.py"), ("DEV900", "broken.py")} <= found
    assert any(one.place.filename != name for name, result in results.items() for one in result.findings), (
        "the analysis of a file also finds bugs in other files"
    )


def test_the_result_for_a_file_depends_on_no_other_analysis(folder: Path):
    names = list(PROJECT)
    alone = {name: _results(folder, [name])[name] for name in names}
    drawn = random.Random(0)
    orders = [names, names[::-1], *(drawn.sample(names, drawn.randint(2, len(names))) for _ in range(6))]
    for order in orders:
        for name, result in _results(folder, order).items():
            assert result == alone[name], f"{name} after {order}"


def test_a_result_survives_json(folder: Path):
    for result in _results(folder, list(PROJECT)).values():
        assert from_json(FileFindings, json.loads(json.dumps(to_json(result)))) == result


@pytest.mark.parametrize("data", [[], ["a.py"], ["a.py", [], [], [], [], 7], {"a": 1}, [1, [], [], [], [], []]])
def test_what_is_no_result_is_refused(data: object):
    with pytest.raises((TypeError, ValueError, KeyError)):
        from_json(FileFindings, data)
