"""The shards of a run together report what the whole run does, each finding once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devlint.cli import invoke
from devlint.interpreter.program.program import Program
from devlint.linter.dependency_groups import dependency_groups, files_of_shard
from devlint.linter.shard import Shard

PROJECT = {
    "pyproject.toml": "[tool.devlint]\nextend-exclude = ['vendored']\n",
    # A script whose tensors make the operation in another file fail.
    "shapes/add.py": "def add(a, b):\n    return a + b\n",
    "shapes/draw.py": """
import torch
from add import add
if __name__ == "__main__":
    print(add(torch.ones(3), torch.ones(3, device="cuda")))
""",
    "shapes/test_add.py": """
import torch
from add import add
def test_add():
    add(torch.ones(3, device="cuda"), torch.ones(3))  # devlint: ignore[DEV101]
""",
    # A package whose files only its own file brings together.
    "nets/__init__.py": "from nets.layers import Smooth\n",
    "nets/layers.py": """
import torch
from torch import nn
class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 5) / 5
    def forward(self, signal):
        return nn.functional.conv1d(signal, self.kernel)
""",
    "nets/extra.py": """
import nets
def smooth(x):
    return nets.layers.Smooth().cuda()(x)
""",
    # Two programs that share a file which is not checked: one mistake in both.
    "vendored/tables.py": "import torch\nTABLE = torch.ones(3)\ndef table():\n    return torch.ones(3)\n",
    "first.py": "from vendored.tables import table\nprint(table() + table().cuda())\n",
    "second.py": "from vendored.tables import TABLE\ndef move():\n    TABLE.to('cuda')\n",
    # A program whose script does not call a method, which another program may name as well.
    "meters/meter.py": """
import torch
class Meter:
    def mean_error(self, predicted: torch.Tensor, target: torch.Tensor):
        scale = torch.ones(target.shape[-1])
        return ((predicted.cuda() - target.cuda()) * scale).abs().mean()
""",
    "meters/count.py": "from meter import Meter\nif __name__ == '__main__':\n    print(Meter())\n",
    "script.py": """
import torch
def step(x):
    return x.to("cuda") + torch.ones(3)  # devlint: ignore[DEV105] -- silences nothing
if __name__ == "__main__":
    step(torch.ones(3))
""",
    "clean.py": "def f():\n    return 3\n",
    "unused.py": "import math\nx = math.pi  # devlint: ignore[DEV201]\n",
    "misspelt.py": "x = 1  # devlint: ignore[DEV9999]\n",
    "broken.py": "def f(:\n",
    "empty.py": "",
}
GROUPS = 10
OPTIONS = ["check", ".", "--select", "ALL", "--min-confidence", "possible", "--output-format", "json"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def _found(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert invoke([*OPTIONS, *options]) in (0, 1)
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def _order(one: dict[str, object]) -> str:
    return json.dumps(one, sort_keys=True)


@pytest.mark.parametrize("count", [1, 2, 3, GROUPS, GROUPS + 3])
def test_the_shards_together_report_what_the_whole_run_does(project, capsys, count) -> None:
    whole = _found(capsys)
    codes = {(one["filename"], one["code"]) for one in whole}
    assert {
        ("shapes/add.py", "DEV101"),
        ("nets/layers.py", "DEV103"),
        ("second.py", "DEV201"),
        ("meters/meter.py", "DEV101"),
        ("unused.py", "DEV901"),
        ("misspelt.py", "DEV903"),
        ("broken.py", "DEV900"),
    } <= codes
    parts = [_found(capsys, "--shard", f"{number}/{count}") for number in range(1, count + 1)]
    assert sorted((one for part in parts for one in part), key=_order) == sorted(whole, key=_order)
    again = [_found(capsys, "--shard", f"{number}/{count}") for number in range(1, count + 1)]
    assert again == parts, "the same from the cache"


def test_what_other_groups_say_counts_in_each_shard(project, capsys) -> None:
    """A method of one group counts as called where a file of another group names it, also in what the cache keeps."""

    def confidences(*counts: int) -> set[object]:
        found = [one for count in counts for one in _found(capsys, *(["--shard", f"{count}/3"] if count else []))]
        return {one["confidence"] for one in found if one["filename"] == "meters/meter.py" and one["code"] == "DEV101"}

    assert confidences(0) == confidences(1, 2, 3) == {"possible"}
    (project / "script.py").write_text(PROJECT["script.py"] + "    print(load().mean_error(1, 2))\n")
    assert confidences(0) == confidences(1, 2, 3) == {"certain"}
    (project / "script.py").write_text(PROJECT["script.py"])
    assert confidences(0) == confidences(1, 2, 3) == {"possible"}
    (project / "README.md").write_text("Call `.mean_error(a, b)` to compare.\n")
    assert confidences(0) == confidences(1, 2, 3) == {"certain"}


def test_the_files_of_all_shards_are_the_files_of_the_run(project, capsys) -> None:
    def files(*options: str) -> list[str]:
        assert invoke(["check", ".", "--show-files", *options]) == 0
        return capsys.readouterr().out.splitlines()

    whole = files()
    parts = [files("--shard", f"{number}/4") for number in (1, 2, 3, 4)]
    assert sorted(name for part in parts for name in part) == sorted(whole)
    assert all(parts)
    for together in (
        {"shapes/add.py", "shapes/draw.py"},
        {"nets/layers.py", "nets/extra.py"},
        {"first.py", "second.py"},
    ):
        assert sum(not together.isdisjoint(part) for part in parts) == 1


def test_a_shard_says_how_many_of_the_files_are_its_own(project, capsys) -> None:
    assert invoke([*OPTIONS, "--shard", f"{GROUPS + 1}/{GROUPS + 1}"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("[]\n", f"note: shard {GROUPS + 1}/{GROUPS + 1}: 0 of 16 files\n")


def test_the_status_of_a_shard_is_that_of_its_own_findings(project, capsys) -> None:
    statuses = [invoke([*OPTIONS, "--shard", f"{number}/{GROUPS}"]) for number in range(1, GROUPS + 1)]
    assert set(statuses) == {0, 1}
    assert invoke([*OPTIONS, "--exit-zero", "--shard", "1/1"]) == 0


def test_a_baseline_holds_for_all_shards(project, capsys) -> None:
    assert invoke([*OPTIONS, "--baseline", "known.json", "--update-baseline"]) == 0
    (project / "clean.py").write_text("import torch\ntorch.ones(3) + torch.ones(3, device='cuda')\n")
    (project / "misspelt.py").write_text("x = 1\n")
    whole = _found(capsys, "--baseline", "known.json")
    assert {one["filename"] for one in whole} == {"clean.py", "script.py", "shapes/test_add.py", "unused.py"}
    parts = []
    for number in (1, 2, 3):
        assert invoke([*OPTIONS, "--baseline", "known.json", "--shard", f"{number}/3"]) in (0, 1)
        told = capsys.readouterr()
        assert "gone" not in told.err
        parts += json.loads(told.out)
    assert sorted(parts, key=_order) == sorted(whole, key=_order)


@pytest.mark.parametrize("value", ["0/3", "4/3", "x", "1", "1/", "/3", "-1/3", "1/3/5", "1.5/3", "", "²/3"])
def test_what_is_no_shard_is_an_error(project, capsys, value) -> None:
    assert invoke([*OPTIONS, "--shard", value]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == (
        f"Error: Invalid value for '--shard': {value!r} is no part of a run: write K/N with K from 1 to N, such as 2/3"
    )


@pytest.mark.parametrize(
    "options", [["--fix"], ["--diff"], ["--unsafe-fixes"], ["--add-ignore"], ["--update-baseline"], ["--watch"], ["-"]]
)
def test_what_concerns_the_whole_run_cannot_be_done_in_a_shard(project, capsys, options) -> None:
    assert invoke(["check", *options, "--shard", "1/2"]) == 2
    assert "--shard cannot be combined with" in capsys.readouterr().err


def test_the_groups_are_those_of_the_imports(project) -> None:
    names = sorted(name for name in PROJECT if name.endswith(".py") and not name.startswith("vendored"))
    groups = sorted(map(sorted, _groups(project, names)))
    assert len(groups) == GROUPS
    assert [group for group in groups if len(group) > 1] == [
        ["first.py", "second.py"],
        ["meters/count.py", "meters/meter.py"],
        ["nets/__init__.py", "nets/extra.py", "nets/layers.py"],
        ["shapes/add.py", "shapes/draw.py", "shapes/test_add.py"],
    ]


def test_the_groups_do_not_depend_on_the_order_of_the_files_nor_on_where_they_lie(project, tmp_path) -> None:
    names = [name for name in PROJECT if name.endswith(".py") and not name.startswith("vendored")]
    assert list(_groups(project, names)) == list(_groups(project, names[::-1]))
    other = tmp_path / "zzz" / "elsewhere"
    for name in (*names, "vendored/tables.py"):
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(PROJECT[name])
    for number in (1, 2, 3):
        here, there = (_shard(folder, names, number) for folder in (project, other))
        assert here == there


def _groups(folder: Path, names: list[str]) -> list[list[str]]:
    program = Program([(folder / name, name) for name in names])
    return [[program.name_of(path) for path in group] for group in dependency_groups(program)]


def _shard(folder: Path, names: list[str], number: int) -> list[str]:
    program = Program([(folder / name, name) for name in names])
    own = files_of_shard(program, Shard(number, 3), lambda path: path.stat().st_size)
    return [program.name_of(path) for path in own]


def test_the_work_is_shared_evenly(tmp_path) -> None:
    sizes = {"a.py": 900, "b.py": 500, "c.py": 400, "d.py": 300, "e.py": 300, "f.py": 300}
    for name, size in sizes.items():
        (tmp_path / name).write_text("#" * size)
    assert [_shard(tmp_path, list(sizes), number) for number in (1, 2, 3)] == [
        ["a.py"],
        ["b.py", "e.py"],
        ["c.py", "d.py", "f.py"],
    ]
