"""What may be wrong with files, directories and the places where reports go: said in a line, and the rest is done."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from devlint import cli

ROOT = Path(__file__).parent.parent.parent
BUG = "import torch\n\nx = torch.zeros(3, device='cuda')\nx + torch.ones(3)\n"
FULL = Path("/dev/full")


@pytest.fixture(autouse=True)
def good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with a finding, which every run must report whatever is wrong beside it."""
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_text(BUG)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str], list[str]]]:
    """Runs devlint: its status, what it reports besides the good file's finding, and what it complains of."""

    def invoke(*arguments: str) -> tuple[int, list[str], list[str]]:
        status = cli.invoke(arguments or ["."])
        captured = capfd.readouterr()
        lines = captured.out.splitlines()
        assert [line for line in lines if line.startswith("good.py:4:1: DEV101 [*] ")], captured
        said = captured.err.splitlines()
        said.remove("note: [*] 1 fixable with --fix")
        return status, [line for line in lines if not line.startswith("good.py:")], said

    return invoke


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"x = 1\0\n",
            "bad.py:1:6: DEV900 the file holds a null byte",
        ),
        (b"\x7fELF\x02\x01\x01\0\0", "bad.py:1:8: DEV900 the file holds a null byte"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "bad.py:1:1: DEV900 byte 0x89 is not valid utf-8"),
        (
            "x = 'é'\n".encode("latin-1"),
            "bad.py:1:6: DEV900 byte 0xe9 is not valid utf-8, and the file",
        ),
        ("x = 'é'\n".encode("utf-16"), "bad.py:1:4: DEV900 the file holds a null byte"),
        (b"# coding: klingon\n", "bad.py:1:1: DEV900 unknown encoding: klingon"),
        (b"def f(:\n", "bad.py:1:7: DEV900 the file cannot be parsed: "),
        (b"(" * 10_000, "bad.py:1:"),
        (b"x = " + b"-" * 200_000 + b"1\n", "bad.py:1:"),
        (b"if x:\n\ty\n        z\n", "bad.py:3:"),
    ],
)
def test_a_file_that_is_no_python_is_a_finding(run, content, said):
    Path("bad.py").write_bytes(content)
    status, (line,), complaints = run()
    assert status == 1
    assert line.startswith(said)
    assert "DEV900" in line and line.endswith("(broken-file)")
    assert complaints == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xef\xbb\xbf",
        b"\n\n",
        b"\x0c",
        b"x = 1",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"x = [" + b"1, " * 400_000 + b"]\n",
        b"x = '" + b"a" * 5_000_000 + b"'\n",
        b"x = 1\n" * 20_000,
    ],
    ids=["empty", "mark", "blank", "feed", "no end", "latin", "long list", "long string", "many lines"],
)
def test_a_file_that_is_only_strange_is_silent(run, content):
    Path("strange.py").write_bytes(content)
    assert run() == (1, [], [])


def test_a_file_that_cannot_be_read_is_a_finding(run):
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind("closed.py")
        status, (line,), complaints = run("closed.py", "good.py")
    assert (status, complaints) == (1, [])
    assert line.startswith("closed.py:1:1: DEV900 cannot read the file: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_a_finding(run):
    Path("closed.py").write_text(BUG)
    Path("closed.py").chmod(0)
    status, (line,), _ = run()
    assert (status, line) == (1, "closed.py:1:1: DEV900 cannot read the file: Permission denied (broken-file)")


def test_a_path_that_is_not_there_is_named(run):
    assert run("missing.py", "good.py", "no/where") == (
        2,
        [],
        ["error: missing.py: no such file or directory", "error: no/where: no such file or directory"],
    )


def test_a_function_is_no_path(run):
    (said,) = run("good.py::f", "good.py")[2]
    assert said == "error: good.py::f: devlint checks whole files; check good.py, and look for f in the report"


def test_a_device_is_no_file(run):
    assert run("/dev/zero", "good.py") == (2, [], ["error: /dev/zero: neither a file nor a directory"])


def test_links_that_lead_round_in_circles(run):
    Path("a.py").symlink_to("b.py")
    Path("b.py").symlink_to("a.py")
    Path("self.py").symlink_to("self.py")
    Path("pkg").mkdir()
    Path("pkg/up").symlink_to("..", target_is_directory=True)
    Path("pkg/pkg").symlink_to("pkg", target_is_directory=True)
    assert run() == (1, [], [])
    assert run("self.py", "good.py") == (2, [], ["error: self.py: no such file or directory"])


def test_a_directory_with_the_name_of_a_file(run):
    Path("odd.py").mkdir()
    Path("odd.py/inner.py").write_text("x = (")
    status, (line,), _ = run()
    assert status == 1
    assert line.startswith("odd.py/inner.py:1:5: DEV900 ")


def test_a_broken_configuration_stops_what_it_governs_only(run):
    Path("pkg").mkdir()
    Path("pkg/pyproject.toml").write_text("[tool.devlint\n")
    Path("pkg/a.py").write_text(BUG)
    status, lines, (complaint,) = run()
    assert (status, lines) == (2, [])
    assert complaint.startswith(f"error: {Path('pkg/pyproject.toml').absolute()}: not valid TOML: ")


def test_checking_writes_nothing_but_its_cache(run):
    Path("closed").mkdir()
    Path("closed/a.py").write_text("x = 1\n")
    Path("closed").chmod(0o555)
    before = sorted(Path().rglob("*"))
    assert run() == (1, [], [])
    assert sorted(path for path in Path().rglob("*") if ".devlint_cache" not in path.parts) == before
    Path("closed").chmod(0o755)


def start(*arguments: str, **streams: object) -> subprocess.Popen[str]:
    """devlint in a process of its own, in the current directory."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "devlint", *arguments]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **streams)  # type: ignore[call-overload]


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("form", ["concise", "full", "json", "sarif", "html", "junit"])
def test_a_full_disk_behind_the_standard_output(form):
    with FULL.open("w") as stream:
        process = start("good.py", "--output-format", form, stdout=stream)
        _, complaint = process.communicate()
    assert (process.returncode, complaint) == (2, "error: cannot write the report: No space left on device\n")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_a_file_leaves_the_other_reports_and_no_half_of_one(capfd):
    Path("old.json").write_text("before")
    assert cli.invoke(["good.py", "--output-format", f"json:new.json,sarif:{FULL}"]) == 2
    assert capfd.readouterr().err == "error: cannot write /dev/full: No space left on device\n"
    assert Path("new.json").read_text().startswith("[")
    assert sorted(path.name for path in Path().glob("[!.]*")) == ["good.py", "new.json", "old.json"]


def test_a_reader_that_closes_the_pipe():
    Path("many.py").write_text(BUG + "x + torch.ones(3)\n" * 2_000)
    process = start("many.py", stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("many.py:4:1: DEV101 ")
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == "note: [*] 2001 fixable with --fix\n"
    assert process.wait() == 1


def test_a_pipe_that_is_closed_from_the_beginning():
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        process = start("good.py", stdout=stream)
        _, complaint = process.communicate()
    assert (process.returncode, complaint) == (1, "note: [*] 1 fixable with --fix\n")


def test_an_interrupt_amid_the_analysis_is_clean():
    code = f"""
import os, signal
from devlint.cli import main
from devlint.interpreter.driver.entry_points import analyse_file
import devlint.linter.file_analyser

def interrupted(analysis, module):
    os.kill(os.getpid(), signal.{signal.SIGINT.name})
    analyse_file(analysis, module)

devlint.linter.file_analyser.analyse_file = interrupted
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "good.py", "--output-format", "concise,json:out.json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\ndevlint: interrupted\n")
    assert not Path("out.json").exists()
