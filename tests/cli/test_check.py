from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

BUG = "pass # BUG DEV101\n"


def test_status_is_0_where_nothing_is_found(devlint, files):
    files({"a.py": "x = 1\n"})
    result = devlint("a.py")
    assert (result.status, result.out, result.err) == (0, "", "note: no findings in 1 file\n")


def test_status_is_1_where_something_is_found(devlint, files):
    files({"a.py": BUG})
    result = devlint("a.py")
    assert result.status == 1
    assert result.out == "a.py:1:1: DEV101 DEV101 here (mixed-device-op)\n"


def test_check_may_be_named_or_not(devlint, files):
    files({"a.py": BUG})
    assert devlint("check", "a.py").found == devlint("a.py").found == ["a.py:1 DEV101"]


def test_without_a_path_the_current_directory_is_checked(devlint, files):
    files({"pkg/a.py": BUG})
    assert devlint().found == devlint("--isolated").found == ["pkg/a.py:1 DEV101"]


def test_a_path_with_the_name_of_a_command(devlint, files):
    files({"rule/a.py": BUG})
    assert devlint("./rule").found == ["rule/a.py:1 DEV101"]


def test_exit_zero(devlint, files):
    files({"a.py": BUG})
    result = devlint("a.py", "--exit-zero")
    assert result.status == 0
    assert result.found == ["a.py:1 DEV101"]


def test_a_path_that_does_not_exist_is_named_and_the_others_are_checked(devlint, files):
    files({"a.py": BUG})
    result = devlint("missing.py", "a.py", "--exit-zero")
    assert result.status == 2
    assert result.err == "error: missing.py: no such file or directory\n"
    assert result.found == ["a.py:1 DEV101"]


@pytest.mark.parametrize(("word", "meant"), [("lsp", "server"), ("chekc", "check"), ("port-", "port")])
def test_a_word_that_is_nearly_a_command_is_not_taken_for_a_path(devlint, files, word, meant):
    files({"a.py": BUG})
    result = devlint(word, "a.py")
    assert (result.status, result.found) == (2, [])
    assert f"{word} is neither a path nor a command (did you mean `devlint {meant}`?)" in result.err


def test_a_path_that_is_nearly_a_command_is_a_path(devlint, files):
    files({"rules/a.py": BUG})
    assert devlint("rules").found == ["rules/a.py:1 DEV101"]


def test_no_python_files_is_a_warning(devlint, files):
    files({"README.md": ""})
    result = devlint(".")
    assert result.status == 0
    assert result.err == "warning: no Python files to check\n"


def test_a_file_is_reported_once_however_often_it_is_named(devlint, files):
    files({"pkg/a.py": BUG})
    assert devlint("pkg/a.py", "pkg", "./pkg/a.py").found == ["pkg/a.py:1 DEV101"]


def test_a_revealed_placement_is_always_shown_and_never_counts(devlint, files):
    files({"a.py": "pass # BUG DEV902 possible\n"})
    result = devlint("a.py", "--select", "DEV201", "--ignore", "DEV9", "--min-confidence", "certain")
    assert result.status == 0
    assert result.found == ["a.py:1 DEV902"]


def test_an_unreadable_file_is_reported_whatever_is_selected_unless_it_is_ignored(devlint, files):
    files({"a.py": "pass # BUG DEV900\n"})
    assert devlint("a.py", "--select", "DEV201").found == ["a.py:1 DEV900"]
    assert devlint("a.py", "--ignore", "DEV900").found == []


@pytest.mark.parametrize(
    ("word", "meant"),
    [("--selct", " Did you mean '--select'?"), ("--no-cach", " Did you mean '--no-cache'?"), ("--zzz", "")],
)
def test_a_misspelt_option_names_only_those_that_are_nearly_it(devlint, word, meant):
    result = devlint(word)
    assert result.status == 2
    assert result.err.splitlines()[-1] == f"Error: No such option {word!r}.{meant}"


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ([], ["DEV101", "DEV201"]),
        (["--select", "ALL"], ["DEV101", "DEV201", "DEV204"]),
        (["--select", "DEV2"], ["DEV201", "DEV204"]),
        (["--select", "shared-storage-mutation"], ["DEV204"]),
        (["--select", "DEV101,DEV204"], ["DEV101", "DEV204"]),
        (["--select", "DEV101", "--select", "DEV204"], ["DEV101", "DEV204"]),
        (["--extend-select", "DEV204"], ["DEV101", "DEV201", "DEV204"]),
        (["--ignore", "DEV1"], ["DEV201"]),
        (["--select", "DEV2", "--ignore", "DEV204"], ["DEV201"]),
        (["--select", "DEV204", "--ignore", "DEV2"], ["DEV204"]),
    ],
)
def test_rules_are_chosen(devlint, files, options, codes):
    files({"a.py": "".join(f"pass # BUG {code}\n" for code in ("DEV101", "DEV201", "DEV204"))})
    assert [line.split()[1] for line in devlint("a.py", *options).found] == codes


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
def test_an_unknown_rule_is_an_error(devlint, files, option):
    files({"a.py": BUG})
    result = devlint("a.py", option, "discarded-tranfer")
    assert result.status == 2
    assert f"{option}: unknown rule `discarded-tranfer` (did you mean `discarded-transfer`?)" in result.err
    assert result.out == ""


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("DEVLINT_SELECT", "DEV1x", "DEVLINT_SELECT: unknown rule `DEV1x` (did you mean `DEV1`?)\n"),
        ("DEVLINT_MIN_CONFIDENCE", "sure", "Invalid value for DEVLINT_MIN_CONFIDENCE: 'sure' is not one of"),
        ("DEVLINT_OUTPUT_FORMAT", "jsn", "Invalid value for DEVLINT_OUTPUT_FORMAT: unknown format `jsn`"),
    ],
)
def test_a_wrong_value_in_the_environment_is_said_of_its_variable(
    devlint, files, monkeypatch, variable, value, complaint
):
    files({"a.py": BUG})
    monkeypatch.setenv(variable, value)
    result = devlint("a.py")
    assert result.status == 2
    assert complaint in result.err
    assert "--" not in result.err.split("Error: ")[1].split(";")[0]


@pytest.mark.parametrize(
    ("variable", "warning"),
    [
        (
            "DEVLINT_SELECTS",
            "warning: DEVLINT_SELECTS in the environment is no setting (did you mean DEVLINT_SELECT?)\n",
        ),
        ("DEVLINT_OUTPUT_FORMATS", "(did you mean DEVLINT_OUTPUT_FORMAT?)\n"),
        ("DEVLINT_SELECT", ""),
        ("DEVLINT_VERSION", ""),
        ("DEVLINT_EMULATE", ""),
        ("MY_DEVLINT_SELECTS", ""),
    ],
)
def test_a_misspelt_variable_in_the_environment_is_told(devlint, files, monkeypatch, variable, warning):
    files({"a.py": BUG})
    monkeypatch.setenv(variable, "DEV101")
    result = devlint("a.py")
    assert (result.status, len(result.found)) == (1, 1)
    assert (warning in result.err) if warning else (result.err == "")
    assert devlint("a.py", "-q").err == ""


def test_unlikely_findings_are_left_out_unless_asked_for(devlint, files):
    files({"a.py": "".join(f"pass # BUG DEV101 {sure}\n" for sure in ("certain", "likely", "possible"))})
    assert len(devlint("a.py").found) == 2
    assert len(devlint("a.py", "--min-confidence", "certain").found) == 1
    assert len(devlint("a.py", "--min-confidence", "possible").found) == 3


def test_json_goes_to_a_program(devlint, files):
    files({"pkg/a.py": BUG})
    result = devlint("pkg", "--output-format", "json")
    (finding,) = json.loads(result.out)
    assert (finding["code"], finding["filename"]) == ("DEV101", "pkg/a.py")


def test_several_reports_at_once(devlint, files):
    files({"a.py": BUG})
    result = devlint("a.py", "--output-format", "concise,json:reports/out.json")
    assert result.found == ["a.py:1 DEV101"]
    assert json.loads(Path("reports/out.json").read_text())[0]["code"] == "DEV101"
    assert [path.name for path in Path("reports").iterdir()] == ["out.json"]


def test_two_reports_cannot_share_a_place(devlint, files):
    files({"a.py": BUG})
    result = devlint("a.py", "--output-format", "concise,json")
    assert result.status == 2
    assert "two formats go to one place" in result.err


def test_an_unknown_format_is_an_error(devlint):
    result = devlint(".", "--output-format", "jsn")
    assert result.status == 2
    assert "unknown format `jsn` (did you mean `json`?)" in result.err


@pytest.mark.parametrize("option", ["--output-file", "--output"])
def test_output_file(devlint, files, option):
    files({"a.py": BUG})
    result = devlint("a.py", option, "out.txt")
    assert result.status == 1
    assert result.out == ""
    assert Path("out.txt").read_text().startswith("a.py:1:1: DEV101")


def test_the_help_names_one_option_for_the_output_file(devlint):
    shown = devlint("check", "--help").out
    assert "--output-file FILE" in shown and "--output," not in shown and ", --output" not in shown


def test_an_output_file_that_cannot_be_written_is_an_error(devlint, files):
    files({"a.py": BUG, "file": ""})
    result = devlint("a.py", "--output-file", "file/out.txt")
    assert result.status == 2
    assert result.err.startswith("error: cannot write file/out.txt: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_an_error(devlint, files):
    files({"a.py": BUG})
    result = devlint("a.py", "--output-file", "/dev/full")
    assert result.status == 2
    assert result.err == "error: cannot write /dev/full: No space left on device\n"


def test_statistics(devlint, files):
    files({"a.py": BUG * 2 + "pass # BUG DEV201\n"})
    assert devlint("a.py", "--statistics").out == "2  DEV101  mixed-device-op\n1  DEV201  discarded-transfer\n"
    both = devlint("a.py", "--statistics", "--output-format", "json:out.json")
    assert both.out.startswith("2  DEV101")
    assert len(json.loads(Path("out.json").read_text())) == 3


def test_show_files(devlint, files):
    files({"pkg/a.py": BUG, "pkg/b.txt": "", "venv/c.py": BUG})
    result = devlint(".", "--show-files")
    assert (result.status, result.out) == (0, "pkg/a.py\n")


def pipe_in(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input(devlint, monkeypatch):
    pipe_in(monkeypatch, BUG.encode())
    assert devlint("-").found == ["-:1 DEV101"]


def test_standard_input_with_a_name(devlint, files, monkeypatch):
    files({"pkg/pyproject.toml": '[tool.devlint]\nignore = ["DEV101"]\n'})
    pipe_in(monkeypatch, (BUG + "pass # BUG DEV201\n").encode())
    assert devlint("-", "--stdin-filename", "pkg/a.py").found == ["pkg/a.py:2 DEV201"]


def test_standard_input_that_is_excluded(devlint, monkeypatch):
    pipe_in(monkeypatch, BUG.encode())
    assert devlint("-", "--stdin-filename", "venv/a.py").found == ["venv/a.py:1 DEV101"]
    assert devlint("-", "--stdin-filename", "venv/a.py", "--force-exclude").found == []


def test_standard_input_takes_no_other_path(devlint, files):
    files({"a.py": BUG})
    result = devlint("-", "a.py")
    assert result.status == 2
    assert "`-` takes no other path beside it" in result.err


def test_an_internal_error_loses_nothing_else_and_is_told_under_verbose(devlint, files):
    files({"a.py": "pass # CRASH\n" + BUG})
    quiet, loud = devlint("a.py"), devlint("a.py", "--verbose")
    assert quiet.found == loud.found == ["a.py:2 DEV101"]
    assert quiet.status == devlint("a.py", "--exit-zero").status == devlint("a.py", "--diff").status == 2
    assert "1 function was not analysed to the end" in quiet.err
    assert "internal error in a.py, f: ValueError: oops\nTraceback: oops" in loud.err


def test_options_come_from_the_environment_too(devlint, files, monkeypatch):
    files({"a.py": BUG + "pass # BUG DEV201\n"})
    monkeypatch.setenv("DEVLINT_SELECT", "DEV201,DEV204")
    monkeypatch.setenv("DEVLINT_OUTPUT_FORMAT", "json")
    assert [finding["code"] for finding in json.loads(devlint("a.py").out)] == ["DEV201"]


def test_show_settings(devlint, files):
    files({"pkg/pyproject.toml": '[tool.devlint]\nselect = ["DEV2"]\nper-file-ignores = { "tests/*" = ["DEV201"] }\n'})
    result = devlint("pkg", "--show-settings", "--min-confidence", "possible")
    assert result.status == 0
    assert f"# from {Path('pkg/pyproject.toml').absolute()}" in result.out
    assert 'select = ["DEV201", "DEV204", "DEV900", "DEV902"]' in result.out
    assert 'min-confidence = "possible"' in result.out
    assert '"tests/*" = ["DEV201"]' in result.out


def test_an_interrupt_ends_with_130(devlint, files, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    files({"a.py": BUG})
    monkeypatch.setattr(sys.modules["devlint.linter.program_analysis"], "analyse_files", interrupt)
    result = devlint("a.py", "--output-file", "out.txt")
    assert result.status == 130
    assert result.err.splitlines()[-1] == "devlint: interrupted"
    assert not Path("out.txt").exists()


def test_a_crash_does_not_read_as_a_finding(devlint, files, monkeypatch):
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("oops")

    files({"a.py": BUG})
    monkeypatch.setattr(sys.modules["devlint.linter.program_analysis"], "analyse_files", crash)
    result = devlint("a.py")
    assert result.status == 2
    assert "RuntimeError: oops\ndevlint: internal error; please report it" in result.err


def test_run_is_a_command_beside_check(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "script.py").write_text("import sys\nprint(sys.argv[1:])\nsys.exit(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "devlint", "run", "--no-lint", "script.py", "--select"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (3, "['--select']\n"), done.stderr
