"""Notebooks on the command line, with nothing replaced."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from devlint import cli

SETUP = "%matplotlib inline\n!pip install torch\nimport torch\n\nx = torch.ones(3, device='cuda')"
BUGS = "%%time\ny = x + torch.ones(3)\nx * torch.ones(3)  # devlint: ignore[DEV101]\nx - torch.ones(3)  # noqa: DEV101"


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Writes `train.ipynb` into the current directory: a cell of text, then these cells of code; returns its text."""
    monkeypatch.chdir(tmp_path)

    def write(*cells: str) -> str:
        made = nbformat.v4.new_notebook()
        made.cells = [nbformat.v4.new_markdown_cell("# Training"), *map(nbformat.v4.new_code_cell, cells)]
        nbformat.write(made, "train.ipynb")
        return Path("train.ipynb").read_text()

    return write


def reported(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    cli.invoke(arguments)
    return capfd.readouterr().out


def test_cells_are_one_program_and_places_are_in_cells(notebook, capfd):
    notebook(SETUP, "%%bash\nx + torch.ones(3)", BUGS)
    (line,) = reported(capfd, ".").splitlines()
    assert line.startswith("train.ipynb:cell 4:2:5: DEV101 ")


def test_the_story_leads_through_cells(notebook, capfd):
    notebook(SETUP, BUGS)
    out = reported(capfd, "train.ipynb", "--output-format", "full")
    assert " 2 | y = x + torch.ones(3)\n   |     ^^^^^^^^^^^^^^^^^\n" in out
    assert "--> train.ipynb:cell 2:5:5\n 5 | x = torch.ones(3, device='cuda')\n" in out
    (finding,) = json.loads(reported(capfd, ".", "--output-format", "json"))
    assert (finding["cell"], finding["location"]) == (3, {"row": 2, "column": 5})
    assert [step["cell"] for step in finding["trace"]] == [3, 2]


@pytest.mark.parametrize("form", ["github", "gitlab", "azure", "pylint", "rdjson", "sarif"])
def test_services_are_told_the_row_of_the_file(notebook, capfd, form):
    rows = notebook(SETUP, BUGS).splitlines()
    row = next(number for number, text in enumerate(rows, 1) if "y = x + " in text)
    out = reported(capfd, "train.ipynb", "--output-format", form)
    patterns = (f"line={row},", f'"line": {row},', f"linenumber={row};", f"train.ipynb:{row}:", f'"startLine": {row},')
    assert any(pattern in out for pattern in patterns), out


def test_services_are_told_of_a_module_whose_bug_a_notebook_brings_out(notebook, capfd):
    rows = notebook("import torch\nfrom adder import add\n\nadd(torch.zeros(3, device='cuda'))").splitlines()
    Path("adder.py").write_text("import torch\n\n\ndef add(x):\n    return x + torch.ones(3)\n")
    row = next(number for number, text in enumerate(rows, 1) if "add(torch.zeros" in text)
    (run,) = json.loads(reported(capfd, ".", "--output-format", "sarif"))["runs"]
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "adder.py"
    places = [related["physicalLocation"] for related in result["relatedLocations"]]
    assert ("train.ipynb", row) in [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in places]


def test_a_cell_that_does_not_parse_is_told_by_its_place(notebook, capfd):
    notebook("x = 1", "y = 2\nz = (")
    (line,) = reported(capfd, ".").splitlines()
    assert line.startswith("train.ipynb:cell 3:2:5: DEV900 the file cannot be parsed: ")


def test_a_file_that_is_no_notebook_is_told_and_the_others_are_checked(notebook, capfd):
    notebook(SETUP, BUGS)
    Path("broken.ipynb").write_text('{"cells": [')
    broken, found = reported(capfd, ".").splitlines()
    assert broken.startswith("broken.ipynb:1:12: DEV900 the notebook is not valid JSON")
    assert found.startswith("train.ipynb:cell 3:2:5: DEV101")


def test_a_notebook_imports_modules_beside_it(notebook, capfd):
    notebook("import torch\nfrom maker import make\n\nmake() + torch.ones(3)")
    Path("maker.py").write_text("import torch\n\ndef make():\n    return torch.ones(3, device='cuda')\n")
    assert reported(capfd, "train.ipynb").startswith("train.ipynb:cell 2:4:1: DEV101 ")


def test_the_standard_input_may_be_a_notebook(notebook, capfd, monkeypatch):
    text = notebook(SETUP, BUGS)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert reported(capfd, "-", "--stdin-filename", "a.ipynb").startswith("a.ipynb:cell 3:2:5: DEV101 ")


def test_only_cells_that_changed(notebook, capfd):
    def git(*arguments: str) -> None:
        command = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments)
        subprocess.run(command, check=True, capture_output=True)

    function = "def f():\n    !ls\n    pass\n    x * torch.ones(3)"
    notebook(SETUP, "x - torch.ones(3)", function)
    # Jupyter gives each cell a new id whenever a notebook is made afresh.
    text = Path("train.ipynb").read_text()
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    assert reported(capfd, "--changed") == ""
    Path("train.ipynb").write_text(text.replace("    pass", "    print()"))
    (line,) = reported(capfd, "--changed").splitlines()
    assert line.startswith("train.ipynb:cell 4:4:5: DEV101")


def test_the_last_expression_of_a_cell_is_displayed(notebook, capfd):
    notebook("import torch\nx = torch.ones(3)\nx.sum()", "x.to('cuda')", "x.to('cuda')\nprint(x)", "x.cuda();")
    lines = [line for line in reported(capfd, ".").splitlines() if "DEV201" in line]
    assert [line.split(": ")[0] for line in lines] == ["train.ipynb:cell 4:1:1", "train.ipynb:cell 5:1:1"]


def test_gradients_are_off_after_a_cell_that_ends_with_the_call(notebook, capfd):
    start = "import torch\nfrom torch import nn\nlayer = nn.Linear(2, 2)"
    read = "layer(torch.ones(1, 2)).numpy()"
    notebook(start, "torch.autograd.set_grad_enabled(False)", read, "torch.set_grad_enabled(True)", read)
    (line,) = reported(capfd, ".").splitlines()
    assert line.startswith("train.ipynb:cell 6:1:1: DEV117 ")


def test_the_loops_of_a_cell_run_seldom_but_for_loops_over_batches(notebook, capfd):
    loop = "for seed in seeds:\n    {0} = torch.rand(seed, 999, 999).cuda()"
    notebook("import torch\nfrom data import seeds", loop.format("x"))
    assert reported(capfd, ".") == ""
    batches = loop.replace("seeds", "loader").replace("seed", "batch").replace("rand(batch,", "rand(len(batch),")
    notebook(
        "import torch\nfrom data import dataset\nloader = torch.utils.data.DataLoader(dataset)", batches.format("x")
    )
    assert "DEV406" in reported(capfd, ".")


def test_a_cell_ends_where_it_raises_and_the_next_one_runs(notebook, capfd):
    notebook(SETUP, "raise SystemExit\nx + torch.ones(3)", "x + torch.ones(3)")
    (line,) = reported(capfd, ".").splitlines()
    assert line.startswith("train.ipynb:cell 4:1:1: DEV101 ")
