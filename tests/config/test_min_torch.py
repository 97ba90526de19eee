"""The oldest torch that a project supports, which decides what may be suggested."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.config.config_options import Options
from devlint.config.project_torch import oldest_torch_of_project
from devlint.config.settings import OptionSource, Settings, merge_sources
from devlint.diagnostic import Confidence, Diagnostic, Position, Region, Severity
from devlint.rule_metadata import RuleMetadata

RULE = RuleMetadata("DEV605", "cuda-only-api", Severity.WARNING, True, False, "", "")


@pytest.fixture(autouse=True)
def nothing_remembered():
    oldest_torch_of_project.cache_clear()


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
