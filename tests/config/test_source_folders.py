"""The folders that the modules of a project are imported from, where no option names them."""

from __future__ import annotations

import pytest

from devlint.api import check_paths

SCRIPT = """
from graphs import weights

reveal_placement(weights())
"""
PACKAGE = """
import torch

def weights():
    return torch.ones(3, device="cuda")
"""


@pytest.mark.parametrize(
    ("build_files", "known"),
    [
        (["python/setup.py"], True),
        (["python/pyproject.toml", "python/setup.py"], True),
        ([], False),
        (["python/setup.py", "tools/setup.py"], False),
        (["python/setup.py", "setup.py"], False),
        (["python/nested/setup.py"], False),
    ],
)
def test_examples_import_the_only_installed_folder_beside_them(tmp_path, monkeypatch, build_files, known):
    texts = {"examples/train.py": SCRIPT, "python/graphs/__init__.py": PACKAGE, **dict.fromkeys(build_files, "")}
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    found = check_paths(["examples"]).diagnostics
    assert [one.message.partition(": ")[2] for one in found] == ["cuda float32" if known else "unknown"]
