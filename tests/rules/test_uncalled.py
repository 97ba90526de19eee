"""Findings in functions that nothing in their project calls: they are only possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint import Confidence, check_paths

WRONG = 'torch.zeros(3) + torch.ones(3, device="cuda")'
HELPERS = f"""\
import torch
from torch import nn

def used():
    return 1

def unused():
    return {WRONG}

class Net(nn.Module):
    def call(self):
        return {WRONG}
"""
SCRIPT = """\
from helpers import used, Net

# unused() and Net().call() are left out
if __name__ == "__main__":
    print(used(), Net())
"""


def confidences(folder: Path, **files: str) -> list[tuple[int, Confidence]]:
    """Return the rows and confidences of the findings in the helpers of a project with these files."""
    (folder / "pyproject.toml").write_text("")
    for name, text in {"helpers": HELPERS, "main": SCRIPT, **files}.items():
        (folder / f"{name}.py").write_text(text)
    found = check_paths([folder], min_confidence=Confidence.POSSIBLE).diagnostics
    return [(one.region.start.row, one.confidence) for one in found if one.region.filename.endswith("helpers.py")]


def test_nothing_calls(tmp_path: Path) -> None:
    assert confidences(tmp_path) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


def test_called_only_by_what_nothing_calls(tmp_path: Path) -> None:
    other = "import helpers\n\ndef left():\n    return helpers.unused(), helpers.Net().call()\n"
    script = SCRIPT + "    import other\n"
    found = confidences(tmp_path, main=script, other=other)
    assert found == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


def test_other_names_that_are_computed(tmp_path: Path) -> None:
    script = SCRIPT + "    Net().eval(), getattr(used, 'name', None)\n"
    assert confidences(tmp_path, main=script) == [(8, Confidence.POSSIBLE), (12, Confidence.POSSIBLE)]


@pytest.mark.parametrize(
    "files",
    [
        {"main": SCRIPT + "    from helpers import unused\n    unused(), Net().call()\n"},
        {"main": SCRIPT.partition("if __name__")[0]},
        {"main": SCRIPT + "    import helpers, sys\n    getattr(helpers, sys.argv[1])()\n"},
        {"main": SCRIPT + "    registry = ['unused', 'call']\n"},
        {"main": "if __name__ == '__main__':\n    print(1)\n"},
    ],
    ids=["called", "no script", "called by a computed name", "named in text", "not used by the script"],
)
def test_may_be_called(tmp_path: Path, files: dict[str, str]) -> None:
    assert confidences(tmp_path, **files) == [(8, Confidence.CERTAIN), (12, Confidence.CERTAIN)]


def test_named_in_settings(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("make: helpers.unused\n")
    assert confidences(tmp_path) == [(8, Confidence.CERTAIN), (12, Confidence.POSSIBLE)]


def test_installed_package(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(HELPERS)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "main.py").write_text(SCRIPT.replace("helpers", "package.helpers"))
    found = check_paths([tmp_path], min_confidence=Confidence.POSSIBLE).diagnostics
    assert {one.confidence for one in found} == {Confidence.CERTAIN}
