"""Tests of incremental analysis: a session that reuses results finds the same as a new session."""

from __future__ import annotations

import gc
import random
from pathlib import Path

import pytest

from devlint import cli
from devlint.diagnostic import Diagnostic
from devlint.server.analysis_session import AnalysisJob, AnalysisResult, AnalysisSession, CancellationToken
from devlint.server.preferences import Preferences, WorkspaceSettings

LAYERS = """import torch
from torch import nn

SCALE = torch.ones(3)
CACHE = {}

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)
        self.offset = torch.zeros(width)

    def forward(self, x):
        return self.layer(x) + shift(x)

def shift(x: torch.Tensor):
    return torch.ones(3)

def cached(x: torch.Tensor):
    if "x" not in CACHE:
        CACHE["x"] = torch.arange(3)
    return x + CACHE["x"]
"""

MAIN = """import torch
import layers
from layers import Block, shift as moved

PLACE = "cuda"
COUNT = 0

def count():
    global COUNT
    COUNT = torch.zeros(1)

def helper(x: torch.Tensor):
    mask = torch.zeros(3)
    return x * mask

def main():
    model = Block(3).to(PLACE)
    data = torch.rand(3)
    model(data)
    helper(data.to(PLACE))
    count()
    print(data.to(PLACE) + moved(data), layers.SCALE, COUNT)

if __name__ == "__main__":
    main()
"""

EDITS = [
    ('PLACE = "cuda"', 'PLACE = "cpu"'),
    ('PLACE = "cpu"', 'PLACE = "cuda"'),
    ("torch.zeros(3)", "torch.zeros(3, device=x.device)"),
    ("torch.zeros(3, device=x.device)", "torch.zeros(3)"),
    ("return torch.ones(3)", "return torch.ones_like(x)"),
    ("return torch.ones_like(x)", "return torch.ones(3)"),
    ("data = torch.rand(3)", "data = torch.rand(3, device=PLACE)"),
    ("data = torch.rand(3, device=PLACE)", "data = torch.rand(3)"),
    ("self.offset = torch.zeros(width)", "self.register_buffer('offset', torch.zeros(width))"),
    ("+ shift(x)", "+ self.offset"),
    ("+ self.offset", "+ shift(x)"),
    ("main()\n", "main()\ntorch.set_default_device('cuda')\n"),
    ("torch.set_default_device('cuda')\n", ""),
    ("def helper", "def other(x: torch.Tensor):\n    return x + SCALE\n\ndef helper"),
    ("from layers import Block", "from layers import SCALE, Block"),
    ("import layers\n", "import layers\nfrom layers import *\n"),
    ("torch.arange(3)", "torch.arange(3, device=x.device)"),
    ("COUNT = torch.zeros(1)", "COUNT = 1"),
    ("def shift", "\n\ndef shift"),
    ("return x * mask", "return (x * mask"),
    ("return (x * mask", "return x * mask"),
    ("class Block", "@decorated\nclass Block"),
    ("@decorated\n", ""),
]


@pytest.fixture
def program(tmp_path) -> dict[Path, str]:
    return {tmp_path.resolve() / "layers.py": LAYERS, tmp_path.resolve() / "main.py": MAIN}


def _nothing(*_: object) -> None: ...


def _analyse(
    session: AnalysisSession, program: dict[Path, str], closed: frozenset[Path] = frozenset()
) -> AnalysisResult:
    """Analyse the program and return the result; `closed` files are not open, but are reported on all the same."""
    workspace = WorkspaceSettings({}, Preferences(), pytest.fail)
    settings = {path: workspace.settings(path) for path in program}
    texts = {path: text for path, text in program.items() if path not in closed}
    for path in closed:
        path.write_text(program[path])
    opened = {path: settings[path] for path in texts}
    job = AnalysisJob(texts, opened, find_workspace_files=lambda: settings)
    result = session.analyse(job, CancellationToken(), _nothing, _nothing)
    assert result is not None
    assert result.is_complete
    assert not result.errors
    return result


def _found(result: AnalysisResult) -> list[Diagnostic]:
    return [one for path in sorted(result.files) for one in result.files[path].diagnostics]


def _infos(result: AnalysisResult) -> list[tuple[int, int, str, tuple[str, ...]]]:
    return [
        (one.start, one.end, one.info.code, tuple(sorted(described.text for described in one.info.values)))
        for path in sorted(result.files)
        for one in result.files[path].infos
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_by_a_new_session(program: dict[Path, str], seed: int):
    chance, session = random.Random(seed), AnalysisSession()
    assert _found(_analyse(session, program))
    for _ in range(12):
        path = chance.choice([*program])
        fitting = [edit for edit in EDITS if edit[0] in program[path]]
        old, new = chance.choice(fitting)
        program[path] = program[path].replace(old, new, 1)
        result = _analyse(session, program)
        if "(x * mask" in "".join(program.values()):
            continue  # a session that has just begun knows nothing of how the text was when it parsed
        fresh = _analyse(AnalysisSession(), program)
        assert _found(result) == _found(fresh)
        assert _infos(result) == _infos(fresh)


@pytest.mark.parametrize("seed", range(4))
def test_files_that_are_opened_and_closed(program: dict[Path, str], seed: int):
    chance, session = random.Random(seed), AnalysisSession()
    for _ in range(12):
        closed = frozenset(path for path in program if chance.random() < 0.5)
        path = chance.choice([*program])
        old, new = chance.choice([edit for edit in EDITS if edit[0] in program[path] and "(x * mask" not in edit[1]])
        program[path] = program[path].replace(old, new, 1)
        result, fresh = _analyse(session, program, closed), _analyse(AnalysisSession(), program, closed)
        assert _found(result) == _found(fresh)
        assert _infos(result) == _infos(fresh)
        assert not any(result.files[one].infos for one in closed)


def test_open_files_come_first(program: dict[Path, str]):
    closed = next(iter(program)).parent / "closed.py"
    closed.write_text(MAIN)
    workspace = WorkspaceSettings({}, Preferences(), pytest.fail)
    settings = {path: workspace.settings(path) for path in (*program, closed)}
    opened = {path: settings[path] for path in program}
    told: list[tuple[bool, bool, int]] = []

    def tell(result: AnalysisResult, done: bool) -> None:
        told.append((result.is_complete, done, len(result.files)))

    session, job = AnalysisSession(), AnalysisJob(program, opened, find_workspace_files=lambda: settings)
    session.analyse(job, CancellationToken(), tell, _nothing)
    assert told == [(False, False, 2), (False, True, 2), (True, False, 3)]
    session.analyse(job, CancellationToken(), tell, _nothing)
    assert told[3:] == [(True, False, 3)], "once all is known, it is told together"


def test_a_look_called_off_leaves_nothing_wrong(program: dict[Path, str]):
    session, token = AnalysisSession(), CancellationToken()
    token.cancel()
    workspace = WorkspaceSettings({}, Preferences(), pytest.fail)
    settings = {path: workspace.settings(path) for path in program}
    assert session.analyse(AnalysisJob(program, settings), token, _nothing, _nothing) is None
    assert _found(_analyse(session, program)) == _found(_analyse(AnalysisSession(), program))


def test_memory_stays_flat(program: dict[Path, str]):
    session, path = AnalysisSession(), next(iter(program))
    first = program[path]

    def objects_after(number: int) -> int:
        for step in range(number):
            program[path] = first.replace("torch.zeros(width)", f"torch.zeros({step} + width)")
            _analyse(session, program)
        gc.collect()
        return len(gc.get_objects())

    before = objects_after(8)
    assert objects_after(24) < before * 1.1


def test_what_a_baseline_records_is_not_shown(tmp_path):
    """An editor shows what is new: the finding that the project's baseline file has stays out, another one does not."""
    main = tmp_path / "main.py"
    bug = 'import torch\n\nx = torch.zeros(3)\nx.to("cuda")\n'
    main.write_text(bug)
    (tmp_path / "devlint.toml").write_text('baseline = "known.json"\n')

    def found(text: str) -> list[int]:
        result = _analyse(AnalysisSession(), {main.resolve(): text})
        return [one.region.start.row for one in _found(result)]

    assert found(bug) == [4]  # the file is not there yet
    assert cli.invoke(["check", str(main), "--update-baseline"]) == 0
    assert found(bug) == []
    assert found(f"{bug}x.cuda()\n") == [5]
    assert found(f"# above\n{bug}") == []
