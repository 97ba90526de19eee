"""The oldest torch that a project supports, which decides what may be suggested."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import check_paths
from devlint.config.config_options import Options
from devlint.config.project_torch import end_of_project_torch, oldest_torch_of_project
from devlint.config.settings import OptionSource, Settings, merge_sources
from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.rule_metadata import RuleMetadata

RULE = RuleMetadata("DEV605", "cuda-only-api", Severity.WARNING, True, False, "", "")


@pytest.fixture(autouse=True)
def nothing_remembered():
    oldest_torch_of_project.cache_clear()
    end_of_project_torch.cache_clear()


def settings(tmp_path: Path, **options) -> Settings:
    return merge_sources([OptionSource(Options(**options), tmp_path)], [RULE], tmp_path)


def is_shown(settings: Settings, path: Path, since: tuple[int, ...] | None) -> bool:
    region = Region(path.as_posix(), Position(1, 1), Position(1, 2))
    found = Diagnostic("DEV605", "", Severity.WARNING, Confidence.CERTAIN, "", region, since_torch=since)
    return settings.judge(found, path) is not None


@pytest.mark.parametrize(
    ("dependencies", "oldest"),
    [
        ('dependencies = ["torch>=2.6"]', (2, 6)),
        ('dependencies = ["numpy", "torch[opt-einsum] >=2.4.1,<3 ; python_version > \'3.9\'"]', (2, 4, 1)),
        ('dependencies = ["torch ~= 2.1"]', (2, 1)),
        ('dependencies = ["torch==2.13.0"]', (2, 13, 0)),
        ('dependencies = ["torch"]', None),
        ('dependencies = ["torch<3", "torchvision>=0.20"]', None),
        ('optional-dependencies = { a = ["torch>=2.8"], b = ["torch>=2.5"] }', (2, 5)),
        ('dependencies = ["torch>=2.7"]\noptional-dependencies = { a = ["torch>=2.5"] }', (2, 7)),
        ('dependencies = "torch"', None),
    ],
)
def test_what_the_dependencies_admit(tmp_path: Path, dependencies: str, oldest: tuple[int, ...] | None):
    (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'a'\n{dependencies}\n")
    assert oldest_torch_of_project(tmp_path / "src" / "deep") == oldest


def test_what_poetry_writes(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('[tool.poetry.dependencies]\ntorch = "^2.3"\n')
    assert oldest_torch_of_project(tmp_path) == (2, 3)


def test_a_file_that_is_no_toml_tells_nothing(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text("[")
    assert oldest_torch_of_project(tmp_path) is None


def test_what_the_oldest_torch_lacks_is_not_shown(tmp_path: Path):
    path = tmp_path / "a.py"
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = ['torch>=2.6']\n")
    assert is_shown(settings(tmp_path), path, (2, 6))
    assert is_shown(settings(tmp_path), path, None)
    assert not is_shown(settings(tmp_path), path, (2, 9))
    assert is_shown(settings(tmp_path, min_torch=(2, 9)), path, (2, 9))
    assert not is_shown(settings(tmp_path, min_torch=(2, 5, 1)), path, (2, 6))


def test_the_default_is_2_9(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'a'\n")
    assert is_shown(settings(tmp_path), tmp_path / "a.py", (2, 9))
    assert not is_shown(settings(tmp_path), tmp_path / "a.py", (2, 10))


@pytest.mark.parametrize(
    ("file", "text", "end"),
    [
        ("requirements.txt", "numpy\ntorch==1.8.1\n", (1, 9)),
        ("requirements.txt", "torch==1.8.1+cu111 ; python_version > '3'\n", (1, 9)),
        ("requirements.txt", "torch>=1.4,<=1.9\n", (1, 10)),
        ("requirements-dev.txt", "torch ~= 1.6\n", (2, 0)),
        ("requirements.txt", "torch>=1.4\ntorchvision==0.9\n", None),
        ("requirements.txt", "torch\n", None),
        ("environment.yml", "dependencies:\n  - pytorch=1.4.0=py3.7_cuda\n", (1, 5)),
        ("setup.py", "setup(install_requires=['numpy', 'torch<2.1'])\n", (2, 1)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^1.8"\n', (2, 0)),
        ("README.md", "## Requirements\n- Python 3.6\n- [PyTorch](https://pytorch.org) 0.4.1\n", (0, 5)),
        ("README.rst", "Tested with Pytorch version 1.5.\n", (1, 6)),
        ("README.md", "Runs on PyTorch 1.9.0 (or later).\n", None),
        ("README.md", "You need at least PyTorch 1.4 and Python 3.8\n", None),
        ("README.md", "PyTorch 1.1~2.4, torch>=1.4, PyTorch 1.2+\n", None),
    ],
)
def test_the_torch_that_is_too_new_for_a_project(tmp_path: Path, file: str, text: str, end: tuple[int, int] | None):
    (tmp_path / ".git").mkdir()
    (tmp_path / file).write_text(text)
    assert end_of_project_torch(tmp_path / "src") == end


def test_requirements_count_before_a_readme(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "README.md").write_text("PyTorch 0.4.1\n")
    (tmp_path / "requirements.txt").write_text("torch==2.1\n")
    assert end_of_project_torch(tmp_path) == (2, 2)


@pytest.mark.parametrize(
    ("source", "pin", "rows"),
    [
        ("print(x[torch.arange(3) / 2])", "torch==1.4", []),
        ("print(x[torch.arange(3) / 2])", "torch==1.8", [3]),
        ("print(x[torch.arange(3) / 2])", "torch", [3]),
        ("print(x[torch.rand(3)])", "torch==1.4", [3]),
        ("print(x.masked_fill(torch.ones(3).byte(), 0.0))", "torch<2.1", []),
        ("print(x.masked_fill(torch.ones(3).byte(), 0.0))", "torch<=2.1", [3]),
    ],
)
def test_what_the_pinned_torch_accepts_is_not_reported(tmp_path: Path, source: str, pin: str, rows: list[int]):
    (tmp_path / "requirements.txt").write_text(pin)
    (tmp_path / "a.py").write_text(f"import torch\nx = torch.rand(3)\n{source}\n")
    assert [one.region.start.row for one in check_paths([tmp_path]).diagnostics] == rows
