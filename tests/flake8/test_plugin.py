"""The plugin in the real flake8: the findings are those of `devlint` on the same files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from devlint import cli

FILES = {
    "maker.py": "import torch\n\n\ndef add(x):\n    return x + torch.ones(3)\n",
    "main.py": (
        "import torch\nfrom maker import add\n\nx = torch.zeros(3, device='cuda')\nadd(x)\n"
        "x * torch.ones(3)  # noqa: DEV101\nx / torch.ones(3)  # devlint: ignore\nprint('é', x - torch.ones(3))\n"
    ),
    "pkg/__init__.py": "",
    "pkg/portable.py": "def move(model):\n    return model.cuda()\n",
    "pkg/devlint.toml": 'extend-select = ["DEV6"]\n',
}
# What a main module has to do where workers do not share the memory of the process that starts them.
SPAWNING = """
import multiprocessing
from flake8.main.cli import main

if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    raise SystemExit(main())
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in the current directory, in which one file's bug comes from another."""
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    return tmp_path


def flake8(*arguments: str, script: str | None = None, text: str | None = None) -> tuple[int, list[str]]:
    """The status, and the lines without `./` before the file."""
    program = ("-m", "flake8") if script is None else (script,)
    done = subprocess.run(
        [sys.executable, *program, *arguments],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.stderr == ""
    return done.returncode, [re.sub(r"^\./", "", line) for line in done.stdout.splitlines()]


def devlint(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    cli.invoke([*arguments, "--output-format", "concise"])
    # flake8 fixes nothing, and marks nothing that could be fixed.
    return capfd.readouterr().out.replace(" [*] ", " ").splitlines()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("jobs", ["0", "1", "2"])
def test_the_same_findings_as_devlint(capfd, jobs):
    expected = devlint(capfd, ".")
    assert [line.split(":")[0] for line in expected] == ["main.py", "maker.py", "pkg/portable.py"]
    assert flake8("--select", "DEV", "--jobs", jobs, ".") == (1, expected)


def test_workers_that_share_no_memory(project, capfd, monkeypatch):
    (project / "flake8_spawning.py").write_text(SPAWNING)
    expected = devlint(capfd, ".")
    (project / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(project / "temporary"))
    assert flake8("--select=DEV", "--jobs=2", ".", script="flake8_spawning.py") == (1, expected)
    assert list((project / "temporary").glob("*.json")) == []


@pytest.mark.usefixtures("project")
def test_the_standard_input(capfd):
    text = Path("main.py").read_text(encoding="utf-8")
    expected = devlint(capfd, "main.py")
    assert len(expected) == 1
    status, lines = flake8("--select=DEV", "--stdin-display-name=main.py", "-", text=text)
    assert (status, lines) == (1, expected)


@pytest.mark.usefixtures("project")
def test_options_come_from_the_configuration_of_flake8(capfd):
    Path(".flake8").write_text(
        "[flake8]\nextend-ignore = DEV105\nexclude = pkg\ndevlint-min-confidence = certain\nselect = DEV\n"
    )
    assert flake8() == (1, devlint(capfd, "main.py"))
    Path("devlint.toml").write_text('ignore = ["DEV101"]\n')
    Path("other.toml").write_text("")
    assert flake8() == (0, [])
    assert flake8("--devlint-config=other.toml") == (1, devlint(capfd, "main.py", "--isolated"))


@pytest.mark.usefixtures("project")
def test_rules_that_are_off_by_default_are_on_where_flake8_names_them():
    Path("portable.py").write_text(FILES["pkg/portable.py"])
    assert flake8("portable.py") == (0, [])
    status, lines = flake8("--extend-select=DEV601", "portable.py")
    assert status == 1
    assert [line.partition(" ")[0] for line in lines] == ["portable.py:2:12:"]


@pytest.mark.usefixtures("project")
def test_a_file_that_does_not_parse_is_left_to_flake8(capfd):
    Path("main.py").write_text("x = (\n")
    status, lines = flake8("--jobs=2", "--select=DEV,E9", ".")
    assert status == 1
    assert [line.split(" ")[1] for line in lines] == ["E902" if "E902" in lines[0] else "E999", "DEV601"]


@pytest.mark.usefixtures("project")
def test_a_configuration_that_makes_no_sense_is_told():
    Path("devlint.toml").write_text("selct = []\n")
    done = subprocess.run([sys.executable, "-m", "flake8", "main.py"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "devlint.toml:1: unknown setting `selct` (did you mean `select`?)" in done.stdout + done.stderr


@pytest.mark.usefixtures("project")
def test_what_the_baseline_of_the_settings_records_is_left_out(capfd):
    Path("devlint.toml").write_text('baseline = "known.json"\n')
    done = subprocess.run([sys.executable, "-m", "flake8", "main.py"], capture_output=True, text=True)
    assert done.returncode == 1
    told = "known.json: no such file; `devlint --update-baseline` makes it"
    assert told in done.stdout + done.stderr
    devlint(capfd, ".", "--update-baseline")
    assert flake8("--select=DEV", "main.py", "maker.py") == (0, [])
    with Path("main.py").open("a", encoding="utf-8") as file:
        file.write("x + torch.rand(3)\n")
    expected = devlint(capfd, "main.py")
    assert len(expected) == 1
    assert flake8("--select=DEV", "main.py") == (1, expected)
    assert flake8("--select=DEV", "--stdin-display-name=main.py", "-", text=Path("main.py").read_text())[1] == expected
