"""What depends on where the report goes: the default format, colours, and a reader that goes away."""

from __future__ import annotations

import io
import subprocess
import sys

import click
import pytest

from devlint.cli import terminal

BUG = "pass # BUG DEV101\n"


@pytest.fixture
def on_terminal(monkeypatch, capfd):
    """Makes the standard output a terminal, as far as devlint asks."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")

    def pretend() -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    return pretend


def test_a_terminal_gets_the_full_format_in_colours(devlint, files, on_terminal):
    files({"a.py": BUG})
    on_terminal()
    result = devlint("a.py")
    assert "\x1b[" in result.out
    assert click.unstyle(result.out) == (
        "error[DEV101] mixed-device-op: DEV101 here\n  --> a.py:1:1\n   |\n 1 | pass # BUG DEV101\n   | ^^^\n\n"
        "Found 1 error in 1 file (1 checked).\n"
    )


def test_a_file_gets_the_concise_format_without_colours(devlint, files, on_terminal, tmp_path):
    files({"a.py": BUG})
    on_terminal()
    devlint("a.py", "--output-file", "out.txt")
    assert (tmp_path / "out.txt").read_text() == "a.py:1:1: DEV101 DEV101 here (mixed-device-op)\n"


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False), ({}, True)],
)
def test_colours_on_a_terminal(devlint, files, on_terminal, monkeypatch, environment, colored):
    files({"a.py": BUG})
    on_terminal()
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in devlint("a.py").out) is colored


def test_colours_can_be_forced(devlint, files, monkeypatch):
    files({"a.py": BUG})
    assert "\x1b[" not in devlint("a.py").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in devlint("a.py").out


@pytest.mark.parametrize(("option", "colored"), [("always", True), ("never", False)])
def test_the_option_decides_over_the_environment(devlint, files, on_terminal, monkeypatch, option, colored):
    files({"a.py": BUG})
    on_terminal()
    monkeypatch.setenv("NO_COLOR" if colored else "FORCE_COLOR", "1")
    assert ("\x1b[" in devlint("a.py", "--color", option).out) is colored


def test_quiet_leaves_out_notes_and_keeps_findings_and_errors(devlint, files):
    files({"a.py": BUG})
    devlint("a.py", "--baseline", "known.json", "--update-baseline")
    assert "note: 1 known" in devlint("a.py", "--baseline", "known.json").err
    assert devlint("a.py", "--baseline", "known.json", "-q").err == ""
    assert devlint("a.py", "--quiet").found == ["a.py:1 DEV101"]
    assert "absent.py" in devlint("absent.py", "-q").err


def test_every_option_of_check_stands_in_a_section_of_the_help(devlint):
    told = devlint("check", "--help").out
    _, _, rest = told.partition("Other options:\n")
    assert rest.split("  ")[1:2] == ["-h, --help"]
    assert "sarif" in told


def test_a_reader_that_has_seen_enough_is_no_failure():
    code = """
import sys
from devlint.cli.output_streams import write_stdout
write_stdout((f"line {number}\\n" for number in range(100_000)), color=False)
print("still here", file=sys.stderr)
"""
    done = subprocess.run(
        f'"{sys.executable}" -c "$CODE" | head -n 1',
        shell=True,
        env={"CODE": code, "PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "line 0\n"
    assert done.stderr == "still here\n"


def test_help_is_quick_to_come():
    code = "import sys; from devlint.cli import invoke; invoke(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    help_text, _, modules = done.stdout.rstrip().rpartition("\n")
    assert "Commands:\n  check " in help_text
    assert "..." not in help_text.partition("Commands:")[2]
    assert not {"libcst", "pathspec", "torch", "devlint.interpreter"} & set(modules.split())


@pytest.mark.parametrize(
    ("arguments", "told", "unneeded"),
    [
        (["--version"], "devlint 0.", {"click", "typing", "pathlib", "enum", "devlint.cli"}),
        (["rule", "DEV101"], "# mixed-device-op (DEV101)", {"importlib.metadata", "traceback", "tempfile"}),
    ],
)
def test_short_answers_import_little(arguments, told, unneeded):
    code = "import os, sys; here, leave = set(sys.modules), os._exit; from devlint.start import main\n"
    code += "show = lambda *status: (print('IMPORTED', *sorted(set(sys.modules) - here), flush=True), leave(0))\n"
    code += "os._exit = show; main(); show()"
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    text, _, imported = done.stdout.partition("IMPORTED")
    assert text.startswith(told)
    assert "devlint.start" in imported.split()
    assert not unneeded & set(imported.split())


def test_version():
    for option in ("-V", "--version"):
        done = subprocess.run([sys.executable, "-m", "devlint", option], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("devlint 0.")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines_shown(written: str) -> list[str]:
    """What stood on the last line of a terminal, one text after the other; new text covers old text."""
    line, shown = "", []
    for piece in click.unstyle(written).split("\r")[1:]:
        line = piece + line[len(piece) :]
        shown.append(line.rstrip())
        line = line.rpartition("\n")[2]
    return shown


def test_a_terminal_shows_phases_and_files_and_then_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with terminal.progress() as tell:
        tell("Reading", 0, 3)
        tell("Checking", 0, 2, "a/first.py")
        tell("Checking", 1, 2, "b.py")
    shown = lines_shown(sys.stderr.getvalue())
    assert shown == ["Reading 0/3", "Checking 0/2 a/first.py", "Checking 1/2 b.py", "", ""]
    assert "\n" not in sys.stderr.getvalue()


def test_a_long_name_does_not_break_the_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "30")
    with terminal.progress() as tell:
        tell("Checking", 1, 2, "a/very/long/name/of/a/file.py")
    assert max(map(len, sys.stderr.getvalue().split("\r"))) < 30


def test_a_message_stands_on_a_line_of_its_own(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with terminal.progress() as tell:
        tell("Checking", 0, 2, "a.py")
        terminal.warn("look out")
        tell("Checking", 1, 2, "b.py")
    assert lines_shown(sys.stderr.getvalue()) == [
        "Checking 0/2 a.py",
        "",
        "warning: look out",
        "Checking 1/2 b.py",
        "",
        "",
    ]


@pytest.mark.parametrize("reason", ["no terminal", "quiet", "dumb"])
def test_no_progress_is_shown_where_nobody_wants_it(monkeypatch, reason):
    monkeypatch.setattr(sys, "stderr", io.StringIO() if reason == "no terminal" else Terminal())
    monkeypatch.setenv("TERM", "dumb" if reason == "dumb" else "xterm")
    with terminal.settings(quiet=reason == "quiet", color=None), terminal.progress() as tell:
        tell("Checking", 1, 3)
    assert sys.stderr.getvalue() == ""
