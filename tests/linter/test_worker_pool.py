"""Several processes find what one finds; a process that dies costs the result of one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devlint.interpreter.program.program import Program
from devlint.linter import worker_pool
from devlint.linter.deep_stack import with_deep_stack
from devlint.linter.file_analyser import FileAnalyser
from devlint.linter.file_findings import FileFindings
from devlint.linter.program_analysis import analyse_files
from devlint.linter.worker_pool import ProgramInputs, StartMethod, analyse_in_processes, processes_for

ROOT = Path(__file__).resolve().parents[2]
CODES = frozenset({"DEV101", "DEV102", "DEV201", "DEV900"})
BUG = "import torch\nfrom shared import HOST\n\n\ndef f():\n    return torch.ones(3, device='cuda') + HOST\n"
FILES = {
    "shared.py": "import torch\nHOST = torch.ones(3)\n",
    "broken.py": "def f(:\n",
    **{f"part/m{number}.py": BUG for number in range(6)},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@with_deep_stack
def _analyse(folder: Path, method: StartMethod, kind: type[FileAnalyser] = FileAnalyser) -> dict[Path, FileFindings]:
    """The results for the project, analysed by two processes."""
    inputs = ProgramInputs([(folder / name, name) for name in FILES], CODES, [folder])
    analyser = kind(Program(inputs.files, inputs.src), CODES)
    sizes = dict.fromkeys(analyser.program.given_paths, 100)
    return analyse_in_processes(analyser, inputs, sizes, 2, method)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_find_what_one_finds(folder: Path, method: StartMethod):
    found = _analyse(folder, method)
    alone = FileAnalyser(Program([(folder / name, name) for name in FILES], [folder]), CODES)
    assert sorted(found) == alone.program.given_paths
    for path, result in found.items():
        assert result == alone.analyse(path)
    assert sum(len(result.findings) for result in found.values()) == 6


def test_a_new_process_sets_the_same_files_aside(folder: Path):
    (folder / "plain.py").write_text("def f():\n    return 3\n")
    aside = frozenset({folder / "plain.py"})
    inputs = ProgramInputs([(path, path.name) for path in folder.glob("*.py")], CODES, aside=aside)
    program = inputs.analyser().program
    assert program.is_set_aside(folder / "plain.py")
    assert folder / "shared.py" in program.paths_of_interest


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")
def test_a_process_that_has_grown_too_much_is_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch):
    started: list[int] = []
    begin = worker_pool._Pool._start

    def noted(self: worker_pool._Pool) -> None:
        begin(self)
        started.append(1)

    monkeypatch.setattr(worker_pool._Pool, "_start", noted)
    ordinary = _analyse(folder, "fork")
    assert len(started) == 2
    # Now every process has grown too much after one file.
    monkeypatch.setattr(worker_pool, "_GROWTH_OF_A_FORK", -1)
    assert _analyse(folder, "fork") == ordinary
    assert len(started) == 2 + len(FILES)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")
def test_a_large_program_leaves_the_process_of_the_run_small(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FileAnalyser, "analyse", _in_another_process(os.getpid(), FileAnalyser.analyse))
    monkeypatch.setattr(worker_pool, "_BYTES_TO_HOLD", 100)
    report = analyse_files([folder / name for name in FILES], codes=CODES, src=[folder], jobs=1)
    assert len(report.diagnostics) == 7 and not report.errors
    assert report.work.processes == 1


def _in_another_process(
    pid: int, analyse: Callable[[FileAnalyser, Path], FileFindings]
) -> Callable[[FileAnalyser, Path], FileFindings]:
    """An analysis that fails in the process with a number."""

    def elsewhere(self: FileAnalyser, path: Path) -> FileFindings:
        assert os.getpid() != pid
        return analyse(self, path)

    return elsewhere


class _DyingAnalyser(FileAnalyser):
    """An analyser whose process is killed amid one file."""

    def analyse(self, path: Path) -> FileFindings:
        if path.name == "m2.py":
            os.kill(os.getpid(), signal.SIGKILL)
        return super().analyse(path)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")
def test_a_process_that_dies_costs_one_file(folder: Path):
    found = _analyse(folder, "fork", _DyingAnalyser)
    assert len(found) == len(FILES)
    lost = found[folder / "part/m2.py"]
    assert [one.filename for one in lost.errors] == ["part/m2.py"]
    assert "signal 9" in lost.errors[0].message
    assert sum(len(result.findings) for result in found.values()) == 5


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not copied elsewhere")
def test_the_report_names_the_lost_file(folder: Path):
    code = """
import os, signal
import devlint.linter.worker_pool as pool
from devlint.cli import main
pool._BYTES_FOR_A_FORK = 1
from devlint.linter.file_analyser import FileAnalyser
analyse = FileAnalyser.analyse
def dying(self, path):
    if path.name == "m2.py":
        os.kill(os.getpid(), signal.SIGKILL)
    return analyse(self, path)
FileAnalyser.analyse = dying
main()
"""
    done = _run(code, folder)
    assert done.returncode == 2
    assert done.stdout.count("DEV101") == 5
    line, _ = done.stderr.splitlines()
    assert "internal error: part/m2.py is left out" in line


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows no signals to other processes")
def test_an_interrupt_ends_all_processes(folder: Path):
    code = """
import os, signal, time
import devlint.linter.worker_pool as pool
from devlint.cli import main
pool._BYTES_FOR_A_FORK = 1
from devlint.linter.file_analyser import FileAnalyser
parent = os.getpid()
def endless(self, path):
    os.write(1, f"{os.getpid()}\\n".encode())
    os.kill(parent, signal.SIGINT)
    time.sleep(100)
FileAnalyser.analyse = endless
main()
"""
    done = _run(code, folder)
    assert (done.returncode, done.stderr) == (130, "\ndevlint: interrupted\n")
    for number in map(int, done.stdout.split()):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_little_work_takes_one_process():
    assert processes_for([2_000] * 20, 8, "fork") == 1
    assert processes_for([50_000] * 20, 8, "fork") == 6
    assert processes_for([50_000] * 20, 8, "spawn") == 1
    assert processes_for([5_000_000], 8, "fork") == 1


def _run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run devlint's command line on a folder in a process of its own, after some code."""
    return subprocess.run(
        [sys.executable, "-c", code, ".", "--isolated", "--jobs", "2", "--output-format", "concise"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
