"""Tests of the processes that a program starts, and of what it does when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devlint.runtime import emulate, record

ROOT = Path(__file__).parents[2]
SEES = "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"
USES = "print(torch.ones(1).to('cuda').device)"


def child(source: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    return done.stdout


def test_a_child_sees_the_devices_of_its_parent() -> None:
    with emulate(devices=2):
        assert child(f"{SEES}; {USES}") == "True 2\ncuda:0\n"
        assert child("import os; os.system(__import__('sys').executable + ' -c \"" + SEES + "\"')") == "True 2\n"
    assert "DEVLINT_EMULATE" not in os.environ
    assert child("import torch; print(torch.Tensor.device)").startswith("<attribute")


def test_a_child_with_an_environment_of_its_own_sees_them_too() -> None:
    with emulate():
        done = subprocess.run(
            [sys.executable, "-c", SEES], env={"PATH": ""}, capture_output=True, text=True, check=True
        )
    assert done.stdout == "True 1\n"


@pytest.mark.parametrize(
    ("visible", "seen"), [("", "False 0"), ("-1", "False 0"), ("1", "True 1"), ("0,1,2", "True 2")]
)
def test_the_variable_for_visible_devices_hides_them(visible: str, seen: str) -> None:
    with emulate(devices=2):
        assert child(SEES, CUDA_VISIBLE_DEVICES=visible) == f"{seen}\n"


def test_a_child_without_torch_does_not_import_it() -> None:
    with emulate():
        assert child("import sys; print('torch' in sys.modules)") == "False\n"


def test_the_hidden_start_up_file_runs_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.seen = 1\n", encoding="utf-8")
    with emulate():
        assert child("print(seen)", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") == "1\n"


def test_a_child_that_cannot_be_emulated_says_so() -> None:
    source = "import sys; sys.modules['devlint'] = None; import torch; print(torch.cuda.is_available())"
    with emulate():
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert "does not see the emulated device" in done.stderr


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["-I", "-c", "0"], "-I"),
        (["-uES", "-c", "0"], "-E"),
        (["-W", "ignore", "-S", "-c", "0"], "-S"),
        (["-c", "import sys; assert sys.argv[1] == '-I'", "-I"], None),
        (["-Wignore::ImportWarning", "-s", "-c", "0", "-E"], None),
        (["-m", "this", "-S"], None),
    ],
)
def test_the_report_says_that_an_isolated_child_does_not_see_the_device(options: list[str], named: str | None) -> None:
    with record() as report, emulate():
        subprocess.run([sys.executable, *options], capture_output=True, check=True)
        subprocess.run(args=["true", "-I"], check=True)
    notes = [note for note in report.recorder.notes if "does not see the emulated device" in note]
    assert len(notes) == (named is not None)
    assert all(f"by python {named}," in note for note in notes)


PROGRAM = """\
import atexit
import torch
import torch.multiprocessing as processes
from torch.utils.data import DataLoader


class Numbers:
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return float(torch.cuda.is_available())


def work(rank):
    print("spawned", torch.ones(2).cuda().device, flush=True)


@atexit.register
def leave():
    print("last", model(torch.ones(1, 2).cuda()).device, torch.cuda.device_count())


def never():
    print("never")


if __name__ == "__main__":
    model = torch.nn.Linear(2, 2).cuda()
    atexit.register(never)
    atexit.unregister(never)
    atexit.register(print, "first", end="!\\n")
    processes.spawn(work, nprocs=1)
    for start in ("fork", "spawn"):
        loader = DataLoader(Numbers(), num_workers=1, multiprocessing_context=start)
        print(start, torch.cat(list(loader)).tolist(), flush=True)
"""


def test_spawned_processes_workers_and_exit_handlers_see_the_device(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = "from devlint.cli.run_command import run; run(prog_name='devlint run')"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-lint", "program.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "spawned cuda:0",
        "fork [1.0, 1.0]",
        "spawn [1.0, 1.0]",
        "first!",
        "last cuda:0 1",
    ]
    assert "what happens in other processes is not recorded" in done.stderr
