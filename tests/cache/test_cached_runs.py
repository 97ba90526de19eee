"""The cache as users meet it: what a second run says, and when it analyses again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import devlint.linter.program_analysis
from devlint import cli

ROOT = Path(__file__).parent.parent.parent
MAIN = "from helper import make\n\nx = make() + torch.ones(3)\n"
FILES = {
    "app/main.py": "import torch\n" + MAIN,
    "app/helper.py": "import torch\n\n\ndef make():\n    return torch.zeros(3, device='cuda')\n",
    "pyproject.toml": "[tool.devlint]\n",
}


class Runs:
    """Runs of devlint in one process; `analysed` says whether the last one has analysed anything."""

    def __init__(self, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capfd = capfd
        self.analysed = False
        analyse = devlint.linter.program_analysis.analyse_files

        def counted(*arguments, **named):
            self.analysed = True
            return analyse(*arguments, **named)

        monkeypatch.setattr("devlint.linter.program_analysis.analyse_files", counted)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        self.analysed = False
        status = cli.invoke(arguments)
        return status, *self._capfd.readouterr()


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def write(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    for name, text in FILES.items():
        write(name, text)
    monkeypatch.chdir(tmp_path)
    return write


@pytest.fixture
def run(write, capfd, monkeypatch) -> Runs:
    return Runs(capfd, monkeypatch)


def test_a_second_run_says_the_same_without_analysing(run):
    for options in (("--output-format", "json"), ("--statistics", "-q"), ("--diff",), ()):
        fresh = run("--no-cache", *options)
        assert run.analysed
        assert run(*options) == fresh
        assert run(*options) == fresh
        assert not run.analysed
    assert "DEV101" in fresh[1]


def test_without_a_cache_nothing_is_written(run, tmp_path):
    run("--no-cache")
    assert {path.name for path in tmp_path.iterdir()} == {"app", "pyproject.toml"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("app/main.py", "import torch\n" + MAIN + "# a comment\n"),
        ("app/helper.py", "import torch\n\n\ndef make():\n    return torch.zeros(3)\n"),
        ("app/torch.py", "def ones(*sizes):\n    return 1\n"),
        ("torch/__init__.py", ""),
        ("app/extra.py", "x = 1\n"),
    ],
)
def test_a_change_is_seen(run, write, name, text):
    run()
    write(name, text)
    fresh = run("--no-cache")
    assert run() == fresh
    assert run.analysed
    assert run() == fresh
    assert not run.analysed


def test_a_module_that_is_read_but_not_checked_counts(run, write):
    before = run("app/main.py")
    assert run("app/main.py") == before and not run.analysed
    write("app/helper.py", "import torch\n\n\ndef make():\n    return torch.zeros(3)\n")
    assert "DEV101" not in run("app/main.py")[1] and run.analysed
    Path("app/helper.py").unlink()
    run("app/main.py")
    assert run.analysed


def test_a_module_that_decides_whether_a_file_concerns_tensors_counts(run, write):
    write("app/plain.py", "import settings\n\nx = settings.size() + settings.WIDTH\n")
    write("app/settings.py", "WIDTH = 4\n\n\ndef size():\n    return 3\n")
    before = run("app/plain.py")
    assert run("app/plain.py") == before and not run.analysed
    write("app/settings.py", "import torch\n\nWIDTH = torch.ones(3)\n\n\ndef size():\n    return WIDTH.cuda()\n")
    assert "DEV101" in run("app/plain.py")[1] and run.analysed
    assert run("app/plain.py") == run("--no-cache", "app/plain.py")


def test_the_record_of_an_installation_counts(run, write):
    wrong = "torch.ones(3) + torch.ones(3, device='cuda')"
    write("app/package/__init__.py", "")
    write(
        "app/package/sums.py", f"import torch\n\n\ndef used():\n    return 1\n\n\ndef unused():\n    return {wrong}\n"
    )
    write("app/script.py", "from package.sums import used\n\nif __name__ == '__main__':\n    used()\n")
    assert "sums.py" not in run()[1]
    write("app/made-1.0.dist-info/RECORD", "package/__init__.py,,\n")
    fresh = run("--no-cache")
    assert "sums.py" in fresh[1]
    assert run() == fresh and run.analysed
    assert run() == fresh and not run.analysed


def test_settings_that_change_the_analysis_count(run, write):
    run()
    assert run("--select", "DEV1")[0] == 1 and run.analysed
    assert run("--min-confidence", "possible")[0] == 1 and not run.analysed
    write("pyproject.toml", "[tool.devlint]\nsrc = ['app']\n")
    assert run()[0] == 1 and run.analysed


def test_another_version_of_devlint_analyses_again(run, monkeypatch):
    before = run()
    monkeypatch.setattr("devlint.linter.stored_run.engine_digest", lambda: "another")
    assert run() == before and run.analysed


def test_the_folder_of_the_cache(run, monkeypatch, tmp_path):
    run("--cache-dir", "elsewhere/cache")
    assert (tmp_path / "elsewhere/cache/CACHEDIR.TAG").is_file() and not Path(".devlint_cache").exists()
    monkeypatch.setenv("DEVLINT_CACHE_DIR", "elsewhere/cache")
    run()
    assert not run.analysed
    monkeypatch.delenv("DEVLINT_CACHE_DIR")
    Path("pyproject.toml").write_text("[tool.devlint]\ncache-dir = 'elsewhere/cache'\n")
    monkeypatch.chdir("app")
    run("..")
    assert not run.analysed


def test_a_cache_is_of_use_in_another_place(run, tmp_path, monkeypatch):
    before = run()
    shutil.copytree(tmp_path, tmp_path / "a/deep/copy")
    monkeypatch.chdir(tmp_path / "a/deep/copy")
    shutil.rmtree(tmp_path / "app")
    assert run() == before
    assert not run.analysed


def test_paths_may_be_named_in_several_ways(run, tmp_path):
    _, before, _ = run("app")
    assert run(str(tmp_path / "app"))[1].replace(f"{tmp_path.as_posix()}/", "") == before
    assert not run.analysed


def test_a_cache_that_cannot_be_written_is_told_on_request(run):
    Path(".devlint_cache").write_text("")
    status, out, err = run("-v")
    assert (status, "note: nothing is kept for the next run: " in err) == (1, True)
    assert run() == (status, out, "note: 1 fixable with --fix --unsafe-fixes\n")


@pytest.mark.skipif(os.name == "nt", reason="there are other permissions")
def test_a_read_only_cache_is_used(run):
    before = run()
    for path in [Path(".devlint_cache"), *Path(".devlint_cache").rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert run("-v")[:2] == before[:2]
        assert not run.analysed
    finally:
        for path in [Path(".devlint_cache"), *Path(".devlint_cache").rglob("*")]:
            path.chmod(0o755)


def test_damaged_entries_are_replaced(run):
    before = run()
    for path in Path(".devlint_cache").rglob("*"):
        if path.is_file() and path.parent.parent.name != ".":
            path.write_bytes(path.read_bytes()[:-3])
    assert run() == before and run.analysed
    assert run() == before


def test_two_runs_at_a_time(write):
    command = [sys.executable, "-m", "devlint"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) for _ in "abc"]
    results = [(*process.communicate(), process.returncode) for process in runs]
    assert len(set(results)) == 1 and results[0][2] == 1 and results[0][1].startswith(b"note: 1 fixable")
    again = subprocess.run(command, capture_output=True, env=environment)
    assert (again.stdout, again.stderr, again.returncode) == results[0]


def test_clean_removes_caches_and_nothing_else(run, tmp_path):
    run("app/helper.py")
    (tmp_path / "other/.devlint_cache").mkdir(parents=True)
    (tmp_path / "other/.devlint_cache/mine").write_text("")
    assert run("clean") == (0, "removed .devlint_cache\n", "")
    assert not Path(".devlint_cache").exists() and Path("other/.devlint_cache/mine").exists()
    assert run("clean") == (0, "no cache found\n", "")
    run("--cache-dir", "kept")
    assert run("clean", "--cache-dir", "kept") == (0, "removed kept\n", "")
