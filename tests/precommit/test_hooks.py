"""The hooks, run by the real pre-commit in a scratch repository; the hook repository is a copy of this checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
BUG = "import torch\n\nx = torch.zeros(3, device='cuda') + torch.zeros(3)\n"
DISCARDED = "import torch\n\nx = torch.load('x.pt', map_location='cpu').float()\nx.to('cuda')\nprint(x)\n"
ENVIRONMENT = {
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(folder: Path, *arguments: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | ENVIRONMENT
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def hooks(tmp_path_factory) -> Iterator[tuple[Path, str, Path]]:
    """The hook repository, its revision, and where pre-commit keeps what it has installed."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder)
    for name in ("devlint", "rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "all")
    home = tmp_path_factory.mktemp("home")
    yield folder, git(folder, "rev-parse", "HEAD"), home
    shutil.rmtree(home)


@pytest.fixture
def commit(hooks, tmp_path) -> Callable[..., tuple[int, str]]:
    """Stages files in a scratch repository and runs a hook as a commit would: its status and what it says."""
    repository, revision, home = hooks
    git(tmp_path, "init", "-q")
    (tmp_path / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {repository}\n  rev: {revision}\n  hooks:\n"
        "  - id: devlint\n  - id: devlint-fix\n  - id: devlint-project\n"
    )

    def run(files: dict[str, str], *arguments: str, hook: str = "devlint") -> tuple[int, str]:
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content)
        git(tmp_path, "add", "--all")
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", hook, *arguments],
            cwd=tmp_path,
            env={**os.environ, **ENVIRONMENT, "PRE_COMMIT_HOME": str(home)},
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_commit_with_a_bug_is_stopped(commit):
    status, said = commit({"train.py": BUG})
    assert status == 1
    assert "train.py:3:" in said
    assert "DEV101" in said


def test_a_notebook_is_checked_as_well(commit):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"%matplotlib inline\n{BUG}")])
    status, said = commit({"train.ipynb": nbformat.writes(notebook)})
    assert status == 1
    assert "train.ipynb:cell 1:4:5: DEV101" in said


def test_what_can_be_fixed_is_fixed_and_stops_the_commit_once(commit, tmp_path):
    status, said = commit({"train.py": DISCARDED}, hook="devlint-fix")
    assert status == 1
    assert "files were modified by this hook" in said
    assert (tmp_path / "train.py").read_text() == DISCARDED.replace("x.to", "x = x.to")
    assert commit({}, hook="devlint-fix")[0] == 0


def test_only_the_files_of_the_commit_are_reported(commit, tmp_path):
    commit({"old.py": BUG})
    git(tmp_path, "commit", "-q", "-m", "old")
    status, said = commit({"new.py": "x = 1\n"})
    assert status == 0, said


def test_a_commit_without_python_files_passes(commit):
    status, said = commit({"README.md": "hello\n"})
    assert status == 0
    assert "no files to check" in said


def test_a_commit_that_deletes_a_file_passes(commit, tmp_path):
    commit({"old.py": BUG})
    git(tmp_path, "commit", "-q", "-m", "old")
    (tmp_path / "old.py").unlink()
    status, said = commit({})
    assert status == 0, said


def test_an_excluded_file_is_left_out_though_pre_commit_names_it(commit):
    status, said = commit({"gen/train.py": BUG, "devlint.toml": 'extend-exclude = ["gen"]\n'})
    assert status == 0, said


def test_the_whole_project_before_a_push(commit):
    status, said = commit({"pkg/train.py": BUG}, "--hook-stage", "pre-push", hook="devlint-project")
    assert status == 1
    assert "pkg/train.py:3:" in said
