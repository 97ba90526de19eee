"""`devlint merge` makes of the reports on shards the report on the whole run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from devlint import cli
from devlint.merge.forms import FORMS
from devlint.output import MERGEABLE
from devlint.version import __version__

PROJECT = {
    "b.py": "import torch\ntorch.ones(3) + torch.ones(3, device='cuda')\ntorch.ones(3).cuda()\n",
    "a b/ä.py": """
import torch
from torch import nn
class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = torch.ones(1, 1, 5) / 5
    def forward(self, signal):
        return nn.functional.conv1d(signal, self.kernel)
""",
    "a!.py": "import torch\nx = torch.ones(3)\nx.to('cuda')\nif x.device == 'cuda' and '<&\"]]>':\n    pass\n",
    "notes.ipynb": json.dumps(
        {
            "cells": [
                {"cell_type": "code", "source": "import torch", "metadata": {}, "outputs": [], "execution_count": None},
                {
                    "cell_type": "code",
                    "source": "y = torch.ones(3)\ny.cuda()",
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                },
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ),
    "broken.py": "def f(:\n",
    "clean.py": "import torch\n",
    "z/asked.py": "import torch\nreveal_placement(torch.ones(3))\n",
}
ENDINGS = {"json": "json", "sarif": "sarif", "junit": "xml"}
Shards = Callable[[int], list[str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _check(name: str, *options: str) -> int:
    """Write a report of each form, with a name before the ending of the form."""
    formats = ",".join(f"{form}:reports/{name}.{ending}" for form, ending in ENDINGS.items())
    common = ["--select", "ALL", "--min-confidence", "possible", "--exclude", "reports"]
    return cli.invoke(["check", ".", *common, "--output-format", formats, *options])


def _shards(count: int) -> None:
    """Write the reports of all shards."""
    for number in range(1, count + 1):
        assert _check(f"{number}of{count}", "--shard", f"{number}/{count}") in (0, 1)


@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_the_merged_reports_are_those_of_the_whole_run(project, capfd, count):
    assert _check("whole") == 1
    _shards(count)
    for form, ending in ENDINGS.items():
        parts = [f"reports/{number}of{count}.{ending}" for number in range(1, count + 1)]
        whole = (project / "reports" / f"whole.{ending}").read_text()
        for order in (parts, parts[::-1]):
            capfd.readouterr()
            assert cli.invoke(["merge", *order, "--output-file", "merged"]) == 1
            assert (project / "merged").read_text() == whole, form
        assert cli.invoke(["merge", *parts]) == 1
        assert capfd.readouterr().out == whole
    assert {one["filename"] for one in json.loads((project / "reports/whole.json").read_text())} == {
        "b.py", "a b/ä.py", "a!.py", "notes.ipynb", "broken.py", "z/asked.py"
    }  # fmt: skip


def test_reports_of_several_forms_are_merged_at_once(project, capfd):
    assert _check("whole") == 1
    _shards(3)
    reports = sorted(str(path) for path in Path("reports").glob("*of3.*"))
    assert len(reports) == 9
    capfd.readouterr()
    assert cli.invoke(["merge", *reports, "--output-format", "junit:m.xml,sarif:m.sarif,json"]) == 1
    told = capfd.readouterr()
    assert told.out == Path("reports/whole.json").read_text()
    assert Path("m.xml").read_text() == Path("reports/whole.xml").read_text()
    assert Path("m.sarif").read_text() == Path("reports/whole.sarif").read_text()
    count = len(json.loads(told.out))
    assert told.err.splitlines() == [
        f"note: {count} findings in 3 {form} reports" for form in ("junit", "sarif", "json")
    ]
    assert cli.invoke(["merge", *reports]) == 2
    assert "the reports are in the forms json, sarif, junit: choose by --output-format" in (
        capfd.readouterr().err.replace("\n", " ")
    )


def test_the_status_is_that_of_the_whole_run(project, capfd):
    for name in ("b.py", "a b/ä.py", "a!.py", "notes.ipynb", "broken.py"):
        (project / name).write_text("")
    (project / "notes.ipynb").unlink()
    assert _check("asked") == 0
    for ending in ENDINGS.values():
        assert cli.invoke(["merge", f"reports/asked.{ending}"]) == 0  # an answer to a question is no finding
    (project / "z/asked.py").write_text("")
    assert _check("none") == 0
    for ending in ENDINGS.values():
        capfd.readouterr()
        assert cli.invoke(["merge", f"reports/none.{ending}", "--quiet"]) == 0
        assert capfd.readouterr() == ((project / "reports" / f"none.{ending}").read_text(), "")
    (project / "b.py").write_text(PROJECT["b.py"])
    assert _check("some", "--exit-zero") == 0
    for ending in ENDINGS.values():
        assert cli.invoke(["merge", f"reports/none.{ending}", f"reports/some.{ending}"]) == 1
        assert cli.invoke(["merge", f"reports/none.{ending}", f"reports/some.{ending}", "--exit-zero"]) == 0


def test_a_report_named_twice_counts_once(project, capfd):
    assert _check("whole") == 1
    assert cli.invoke(["merge", "reports/whole.json", "reports/whole.json", "--output-file", "merged"]) == 1
    assert (project / "merged").read_text() == (project / "reports/whole.json").read_text()


def test_reports_that_overlap_are_not_of_one_run(project, capfd):
    assert _check("whole") == 1
    _shards(2)
    for ending in ENDINGS.values():
        capfd.readouterr()
        one, other = (f"reports/{number}of2.{ending}" for number in (1, 2))
        assert cli.invoke(["merge", one, other, f"reports/whole.{ending}"]) == 2
        told = capfd.readouterr()
        assert told.out == ""
        assert told.err.startswith(f"error: reports/whole.{ending}: has findings in ")
        assert told.err.endswith(" has: these are not shards of one run\n")


def _older(text: str) -> str:
    """A report as another version would have written it."""
    return text.replace(__version__, "9.8.7").replace('"confidence"', '"certainty"')


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.json", None, "No such file or directory"),
        ("empty.json", "", "empty, and not json, sarif or junit"),
        ("text.txt", "a.py:1:1: DEV101 it raises\n", "not a report in the form json, sarif or junit"),
        ("half.json", '[\n{\n  "code": "DEV101",', "damaged: Expecting property name"),
        ("half.sarif", '{"$schema": "x", "runs": [', "damaged: Expecting value"),
        ("half.xml", "<testsuites>\n<testsuite", "damaged: unclosed token"),
        ("deep.json", "[" * 100_000, "damaged: "),
        ("bytes.json", "\udcff", "not a text in UTF-8"),
        ("gitlab.json", '[{"check_name": "DEV101"}]', f"not a list of findings as devlint {__version__} writes it"),
        ("numbers.json", "[1, 2]", f"not a list of findings as devlint {__version__} writes it"),
        ("lines.jsonl", "{}\n{}\n", "damaged: Extra data"),
        ("object.json", "{}", "not a SARIF log of devlint"),
        ("runs.sarif", '{"runs": []}', "not a SARIF log of devlint"),
        ("ruff.sarif", '{"runs": [{"tool": {"driver": {"name": "ruff"}}}]}', "a log of ruff, and not of devlint"),
        ("pytest.xml", '<testsuites><testsuite name="pytest"/></testsuites>', "not a JUnit report of devlint"),
        ("page.html", "<html></html>", "not a JUnit report of devlint"),
        (
            "old.xml",
            '<testsuites><testsuite name="a.py" package="org.devlint"/></testsuites>',
            f"written by devlint of an unknown version, and this is devlint {__version__}",
        ),
    ],
)
def test_what_is_no_report_is_named(project, capfd, name, text, said):
    if text is not None:
        Path(name).write_text(text, encoding="utf-8", errors="surrogateescape")
    assert _check("whole", "--quiet") == 1
    capfd.readouterr()
    assert cli.invoke(["merge", "reports/whole.json", name]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"error: {name}: {said}")
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("form", ENDINGS)
def test_reports_of_another_version_are_refused(project, capfd, form):
    assert _check("whole", "--quiet") == 1
    path = project / "reports" / f"whole.{ENDINGS[form]}"
    Path("older").write_text(_older(path.read_text()))
    capfd.readouterr()
    assert cli.invoke(["merge", "older"]) == 2
    versions = f"written by devlint 9.8.7, and this is devlint {__version__}"
    said = f"not a list of findings as devlint {__version__} writes it" if form == "json" else versions
    assert capfd.readouterr().err == f"error: older: {said}\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["reports/whole.json", "--output-format", "sarif"], "none of the reports has the form sarif"),
        (["reports/whole.json", "--output-format", "html"], "none of the reports has the form html"),
        (["reports/whole.json", "--output-format", "jsn"], "unknown format"),
        ([], "Missing argument 'REPORT...'"),
    ],
)
def test_a_wrong_command_line_is_an_error(project, capfd, options, said):
    assert _check("whole", "--quiet") == 1
    capfd.readouterr()
    assert cli.invoke(["merge", *options]) == 2
    assert said in capfd.readouterr().err


def test_the_help_names_the_forms():
    assert tuple(FORMS) == MERGEABLE == tuple(ENDINGS)
