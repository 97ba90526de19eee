"""A run over some files of a project gives the answer of a run over all of them: the others may call the code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from devlint.cli import invoke

HELPER = """
import torch
from torch import Tensor

def mean_error(predicted: Tensor, target: Tensor) -> Tensor:
    scale = torch.ones(target.shape[-1])
    return ((predicted.cuda() - target.cuda()) * scale).abs().mean()
"""
SCRIPT = """
from helper import {imported}

def main():
    print({called})

if __name__ == "__main__":
    main()
"""
USED = SCRIPT.format(imported="mean_error", called="mean_error(*load())")
UNUSED = SCRIPT.format(imported="other", called="other()")
BOTH_SIDES = {
    "a script that calls the function": ({"main.py": USED}, "certain"),
    "a script that does not call it": (
        {"main.py": UNUSED, "helper.py": HELPER + "\ndef other():\n    pass\n"},
        "possible",
    ),
    "a script that does not import the file": ({"main.py": "if __name__ == '__main__':\n    pass\n"}, "possible"),
    "a file between the script and the function": (
        {"main.py": USED.replace("helper", "between"), "between.py": "from helper import mean_error\n"},
        "certain",
    ),
    "no script": ({"other.py": "import torch\n"}, "certain"),
    "a script that git ignores": ({"main.py": UNUSED, ".gitignore": "main.py\n"}, "certain"),
}


@pytest.mark.parametrize(("others", "confidence"), BOTH_SIDES.values(), ids=BOTH_SIDES.keys())
def test_a_run_over_one_file_is_as_sure_as_one_over_all(others, confidence, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"pyproject.toml": "", ".git/config": "", "helper.py": HELPER, **others}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def found(*paths: str) -> list[str]:
        invoke(["check", "--select", "DEV1", "--min-confidence", "possible", "--output-format", "json", *paths])
        listed = json.loads(capsys.readouterr().out)
        return [one["confidence"] for one in listed if Path(one["filename"]).name == "helper.py"]

    assert found(".") == [confidence]
    assert found("helper.py") == [confidence]
    assert found("helper.py") == [confidence]  # from the cache


def test_a_new_script_changes_the_answer(tmp_path, monkeypatch, capsys) -> None:
    """What is kept of a run over one file does not hold when another file begins to call the code."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "pyproject.toml": "",
        "helper.py": HELPER + "\ndef other():\n    pass\n",
        "main.py": UNUSED,
    }.items():
        (tmp_path / name).write_text(text)
    assert invoke(["check", "helper.py"]) == 0
    (tmp_path / "main.py").write_text(USED)
    assert invoke(["check", "helper.py"]) == 1
    (tmp_path / "main.py").write_text(UNUSED)
    assert invoke(["check", "helper.py"]) == 0
    (tmp_path / "second.py").write_text(USED)
    assert invoke(["check", "helper.py"]) == 1
    capsys.readouterr()
