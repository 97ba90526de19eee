"""Rules stand beside the package in a checkout and inside it once installed: both work, wherever Python runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def run(*command: object, cwd: Path, **environment: str) -> str:
    environment = {**os.environ, "PYTHONPATH": "", **environment}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of what an installation needs, so that building leaves nothing in the real one."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("devlint", "rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def packages_below(folder: Path, name: str) -> set[str]:
    return {".".join([name, *path.parent.relative_to(folder).parts]) for path in folder.rglob("__init__.py")}


def test_every_package_is_installed():
    listed = PROJECT["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(
        packages_below(ROOT / "devlint", "devlint") | packages_below(ROOT / "rules", "devlint.rules")
    )


def where_rules_are(python: Path, *, cwd: Path, **environment: str) -> Path:
    code = "import devlint.rules; from devlint.linter.rule_loader import all_rules; all_rules()"
    code += "; print(devlint.rules.__path__[0])"
    return Path(run(python, "-c", code, cwd=cwd, **environment).strip())


def test_a_wheel(checkout, tmp_path):
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ".", cwd=checkout)
    (wheel,) = tmp_path.glob("*.whl")
    target = tmp_path / "target"
    run(*pip, "install", "-q", "--no-deps", "--target", target, wheel, cwd=tmp_path)
    assert where_rules_are(sys.executable, cwd=tmp_path, PYTHONPATH=str(target)) == target / "devlint" / "rules"
    assert where_rules_are(sys.executable, cwd=checkout, PYTHONPATH=str(target)) == checkout / "rules"
    assert (target / "devlint" / "py.typed").is_file()
    data = {path.relative_to(ROOT) for path in (ROOT / "devlint").rglob("*.json")}
    assert data == {path.relative_to(target) for path in (target / "devlint").rglob("*.json")}


def test_an_editable_installation(checkout, tmp_path):
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    (site,) = environment.glob("lib/python*/site-packages")
    # The dependencies are those of the environment that runs the tests.
    (site / "borrowed.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "install", "-q", "--no-deps", "--no-build-isolation", "-e", ".", cwd=checkout)
    assert where_rules_are(python, cwd=tmp_path) == checkout / "rules"
    assert where_rules_are(python, cwd=checkout) == checkout / "rules"
    assert run(environment / "bin" / "devlint", "--version", cwd=tmp_path).startswith("devlint ")


def test_a_bare_checkout(checkout):
    assert where_rules_are(Path(sys.executable), cwd=checkout) == checkout / "rules"


def test_continuous_integration_runs_what_the_readme_tells_people_to_run():
    readme = (ROOT / "README.md").read_text()
    (command,) = re.findall(r"^.*-m pytest.*$", readme, re.MULTILINE)
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert [line for line in lines if line in command.split(" && ")] == command.split(" && ")


def test_the_pinned_torch_is_the_only_one_that_tests_install():
    extras = PROJECT["project"]["optional-dependencies"]
    assert [line for line in extras["dev"] if line.startswith("torch")] == ["torch==2.13.0"]
