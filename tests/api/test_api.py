from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import devlint
from devlint import Confidence, ConfigError, Severity, check_paths, check_source

ROOT = Path(__file__).parent.parent.parent
BUG = "import torch\n\nx = torch.zeros(3, device='cuda')\nx + torch.ones(3)\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def codes(result: devlint.Result) -> list[str]:
    return [diagnostic.code for diagnostic in result.diagnostics]


def test_a_text():
    result = check_source(BUG)
    (found,) = result.diagnostics
    assert (found.code, found.name, found.severity) == ("DEV101", "mixed-device-op", Severity.ERROR)
    assert (found.region.filename, found.region.start.row, found.region.start.column) == ("<string>", 4, 1)
    assert [note.region.start.row for note in found.trace] == [4, 3]
    assert found.fingerprint
    assert (result.checked, result.problems, result.errors) == (1, (), ())


def test_a_text_in_an_encoding_that_it_declares():
    text = f"# coding: latin-1\ns = 'é'\n{BUG}"
    assert codes(check_source(text)) == codes(check_source(text.encode("latin-1"))) == ["DEV101"]
    assert codes(check_source(f"s = '\udce9'\n{BUG}")) == ["DEV900"]


LOSS = """\
import torch.nn.functional as F

def loss(out, target):
    y = target + 1

    return F.cross_entropy(out, y)
"""
CALLER = """\
import torch
from losses import loss

out = torch.rand(3, 4, device="cuda")
y = torch.randint(4, (3,))
loss(out, y)
loss(out, y.cuda())
loss(out, torch.zeros(3, dtype=torch.long))
"""


def test_a_conflict_in_a_file_that_is_not_checked_is_one_of_the_call_that_passes_both_operands():
    Path("losses.py").write_text(LOSS)
    Path("train.py").write_text(CALLER)
    found, other = check_paths(["train.py"]).diagnostics
    assert {one.code for one in (found, other)} == {"DEV101"}
    assert [(one.region.filename, one.region.start.row) for one in (found, other)] == [("train.py", 6), ("train.py", 8)]
    assert "`y` is on cpu but `out` is on cuda" in found.message
    assert found.fix is not None and [one.content for one in found.fix.edits] == [", device=out.device"]
    both = check_paths(["train.py", "losses.py"]).diagnostics
    assert [(one.code, one.region.filename, one.region.start.row) for one in both] == [("DEV101", "losses.py", 6)]


NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.embed = nn.Linear(4, 4), nn.Embedding(4, 4)

    def forward(self, x):
        x = x + 1
        return self.first(x)

    def lookup(self, i):
        return self.embed(i)
"""
USER = """\
import torch
from nets import Net

net = Net()
x = torch.rand(2, 4)
net(x)
net(x.double())
i = torch.tensor([1, 2])
net.lookup(i)
net.lookup(i.float())
"""


def test_a_dtype_conflict_in_a_file_that_is_not_checked_is_one_of_the_call_that_passes_the_operand():
    Path("nets.py").write_text(NET)
    Path("train.py").write_text(USER)
    first, second = check_paths(["train.py"]).diagnostics
    assert (first.code, first.region.filename, first.region.start.row) == ("DEV302", "train.py", 7)
    assert (second.code, second.region.filename, second.region.start.row) == ("DEV305", "train.py", 10)
    both = check_paths(["train.py", "nets.py"]).diagnostics
    assert [(one.code, one.region.start.row) for one in both] == [("DEV302", 10), ("DEV305", 13)]


def test_the_name_decides_what_configuration_holds_and_what_is_imported():
    Path("pkg").mkdir()
    Path("pkg/maker.py").write_text("import torch\n\n\ndef make():\n    return torch.ones(3, device='cuda')\n")
    text = "import torch\nfrom maker import make\n\nmake() + torch.ones(3)\n"
    assert codes(check_source(text, "pkg/new.py")) == ["DEV101"]
    assert codes(check_source(text, "new.py")) == []
    Path("pkg/devlint.toml").write_text('ignore = ["DEV1"]\n')
    assert codes(check_source(text, "pkg/new.py")) == []
    assert codes(check_source(text, "pkg/new.py", isolated=True)) == ["DEV101"]
    assert codes(check_source(text, "pkg/new.py", config=Path("pkg/devlint.toml"), select=["DEV101"])) == ["DEV101"]


def test_paths():
    Path("a.py").write_text(BUG)
    Path("b.py").write_text("x = 1\n")
    result = check_paths([".", Path("missing.py")])
    assert (codes(result), result.checked) == (["DEV101"], 2)
    assert result.problems == ("missing.py: no such file or directory",)
    assert codes(check_paths(["a.py"], ignore=["mixed-device-op"])) == []
    assert codes(check_paths(["a.py"], min_confidence=Confidence.CERTAIN, extend_select=["DEV6"])) == [
        "DEV601",
        "DEV101",
    ]


def test_a_broken_file_is_a_finding():
    (found,) = check_source("x = (").diagnostics
    assert found.code == "DEV900"


def test_arguments_that_make_no_sense_are_refused():
    with pytest.raises(ConfigError, match="--select: unknown rule `DEV7`"):
        check_source(BUG, select=["DEV7"])


def test_a_configuration_that_makes_no_sense_is_a_problem():
    Path("devlint.toml").write_text("x = 1\n")
    result = check_source(BUG)
    assert (result.diagnostics, result.checked) == ((), 0)
    assert result.problems == (f"{Path('devlint.toml').absolute()}:1: unknown setting `x`",)


def test_everything_that_is_offered_is_there():
    for name in devlint.__all__:
        assert getattr(devlint, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'chekc_paths'"):
        _ = devlint.chekc_paths  # type: ignore[attr-defined]


def test_it_is_typed(tmp_path):
    program = """
from devlint import Diagnostic, Result, check_paths, check_source
result: Result = check_source("x = 1", select=["DEV1"])
found: tuple[Diagnostic, ...] = check_paths(["."]).diagnostics
wrong: int = check_source("").checked + check_source("").problems
"""
    (tmp_path / "user.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(tmp_path / "user.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert re.findall(r"user\.py:(\d+): error", done.stdout) == ["5"], done.stdout


def test_the_example_of_the_documentation_is_real(capsys):
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    program, output = re.findall(r"```(?:python|text)\n(.*?)```", page, re.DOTALL)[:2]
    exec(program, {})
    assert capsys.readouterr().out == output


def test_the_documentation_tells_of_everything_that_is_offered():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert {name for name in devlint.__all__ if not re.search(rf"`(devlint\.)?{name}\b", page)} == set()
