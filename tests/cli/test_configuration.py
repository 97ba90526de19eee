"""What `pyproject.toml` says, seen from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

BOTH = "pass # BUG DEV101\npass # BUG DEV201\n"


def configure(text: str) -> str:
    return f"[tool.devlint]\n{text}\n"


def test_rules_of_the_nearest_file(devlint, files):
    files(
        {
            "pyproject.toml": configure('select = ["DEV1"]'),
            "a.py": BOTH,
            "one/pyproject.toml": configure('ignore = ["mixed-device-op"]'),
            "one/deep/b.py": BOTH,
            "two/pyproject.toml": '[tool.other]\nname = "devlint"\n',
            "two/c.py": BOTH,
        }
    )
    assert devlint(".").found == ["a.py:1 DEV101", "one/deep/b.py:2 DEV201", "two/c.py:1 DEV101"]


def test_the_command_line_has_the_last_word(devlint, files):
    files({"pyproject.toml": configure('select = ["DEV1"]\nmin-confidence = "certain"'), "a.py": BOTH})
    assert devlint("a.py", "--select", "DEV2").found == ["a.py:2 DEV201"]
    assert devlint("a.py", "--extend-select", "DEV2").found == ["a.py:1 DEV101", "a.py:2 DEV201"]
    assert devlint("a.py", "--isolated", "--ignore", "DEV101").found == ["a.py:2 DEV201"]


def test_upper_and_lower_case_are_the_same(devlint, files):
    files({"pyproject.toml": configure('select = ["dev1", "Transfer"]\nignore = ["Mixed-Device-Op"]'), "a.py": BOTH})
    assert devlint("a.py").found == ["a.py:2 DEV201"]
    assert devlint("a.py", "--ignore", "dev2").found == []
    assert devlint("a.py", "--select", "all", "--ignore", "dev201").found == ["a.py:1 DEV101"]
    files({"pyproject.toml": configure('per-file-ignores = { "a.py" = ["dev1"] }\nseverity = { dev201 = "info" }')})
    told = json.loads(devlint("a.py", "--output-format", "json").out)
    assert [(one["code"], one["severity"]) for one in told] == [("DEV201", "info")]


def test_per_file_ignores(devlint, files):
    files(
        {
            "pyproject.toml": configure(
                'per-file-ignores = { "tests/*" = ["DEV1"], "*_gpu.py" = ["discarded-transfer"] }'
            ),
            "tests/a.py": BOTH,
            "b.py": BOTH,
            "tests/c_gpu.py": BOTH,
        }
    )
    assert devlint(".").found == ["b.py:1 DEV101", "b.py:2 DEV201", "tests/a.py:2 DEV201"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('selct = ["DEV101"]', "unknown setting `selct` (did you mean `select`?)"),
        ("select = 1", "`select`: expected a list of strings, got 1"),
        ('select = "DEV101"', '`select`: expected a list of strings, got "DEV101"'),
        ('select = ["DEV101", 2]', "`select`: expected a list of strings, got one with 2 in it"),
        ('ignore = ["DEV7"]', "`ignore`: unknown rule `DEV7`"),
        ('extend-select = ["mixed-devic-op"]', "did you mean `mixed-device-op`?"),
        ('min-confidence = "sure"', '`min-confidence`: expected one of "certain", "likely", "possible", got "sure"'),
        ("min-confidence = []", '`min-confidence`: expected one of "certain", "likely", "possible", got a list'),
        ('per-file-ignores = ["tests"]', "`per-file-ignores`: expected a table, got a list"),
        ('per-file-ignores = { "tests" = ["DEV8"] }', "`per-file-ignores`: unknown rule `DEV8`"),
        ('per-file-ignores = { "tests" = 1 }', "`per-file-ignores`: `tests`: expected a list of strings, got 1"),
        (
            'severity = { DEV101 = "bad" }',
            '`severity`: `DEV101`: expected one of "error", "warning", "info", got "bad"',
        ),
        ('severity = { DEV7 = "info" }', "`severity`: unknown rule `DEV7`"),
        ('required-version = ">=99"', "`required-version`: >=99 is required, and this is devlint 0."),
        ('required-version = ">=99"\nlater = 1', "`required-version`: >=99 is required, and this is devlint 0."),
        ('required-version = "new"', '`required-version`: expected a version such as ">=0.1,<2", got "new"'),
        ('extend = "nowhere.toml"', "nowhere.toml: no such file"),
        ('extend = "pyproject.toml"', "pyproject.toml extends this file itself"),
        ('force-exclude = "yes"', '`force-exclude`: expected true or false, got "yes"'),
        ('exclude = ["!"]', "`exclude`: "),
        ("select = [", "not valid TOML: "),
    ],
)
def test_what_cannot_be_used_is_said_with_file_and_key(devlint, files, text, complaint):
    files({"pyproject.toml": configure(text), "a.py": BOTH, "ok/pyproject.toml": configure(""), "ok/b.py": BOTH})
    result = devlint(".")
    assert result.status == 2
    assert re.match(rf"error: {re.escape(str(Path('pyproject.toml').absolute()))}(:2)?: ", result.err)
    # What is wrong with the file as a whole has no line; the others say theirs.
    assert "TOML" in complaint or ":2: " in result.err
    assert complaint in result.err
    assert len(result.err.splitlines()) == 1


def test_what_another_file_configures_is_checked_all_the_same(devlint, files):
    files({"bad/pyproject.toml": configure("x = 1"), "bad/a.py": BOTH, "ok.py": BOTH})
    result = devlint(".")
    assert result.status == 2
    assert result.found == ["ok.py:1 DEV101", "ok.py:2 DEV201"]


@pytest.mark.parametrize("content", [b"[tool.devlint]\nselect = ['\xff']", b'tool.devlint = "x"'])
def test_a_file_that_is_no_table_of_settings(devlint, files, content):
    files({"pyproject.toml": content, "a.py": BOTH})
    assert devlint("a.py").status == 2


def test_a_file_that_does_not_speak_of_devlint_need_not_be_valid(devlint, files):
    files({"pyproject.toml": "[[[", "a.py": BOTH})
    assert devlint("a.py").status == 1


def test_devlint_toml_comes_before_pyproject(devlint, files):
    files({"devlint.toml": 'select = ["DEV1"]', "pyproject.toml": configure('select = ["DEV2"]'), "a.py": BOTH})
    assert devlint("a.py").found == ["a.py:1 DEV101"]


@pytest.mark.parametrize("header", ["[tool.devlint]", "[tool.devlint.severity]"])
def test_the_header_of_a_pyproject_is_too_much_in_a_devlint_toml(devlint, files, header):
    files({"devlint.toml": f'# ours\n{header}\nDEV101 = "info"\n', "a.py": BOTH})
    result = devlint("a.py")
    assert result.status == 2
    assert "leave out the header [tool.devlint]: here, the settings stand at the top level" in result.err
    assert f"{Path('devlint.toml').absolute()}:2: " in result.err or header != "[tool.devlint]"


def test_a_file_extends_another(devlint, files):
    files(
        {
            "shared/base.toml": 'ignore = ["DEV1"]\nmin-confidence = "certain"\nexclude = ["/gen"]\n',
            "pyproject.toml": configure('extend = "shared/base.toml"\nmin-confidence = "possible"'),
            "a.py": BOTH + "pass # BUG DEV201 possible\n",
            "gen/b.py": BOTH,
        }
    )
    assert devlint(".").found == ["a.py:2 DEV201", "a.py:3 DEV201", "gen/b.py:2 DEV201"]


def test_a_fault_in_an_extended_file_is_found_there(devlint, files):
    files({"base.toml": "ignored = []", "pyproject.toml": configure('extend = "base.toml"'), "a.py": BOTH})
    result = devlint(".")
    assert result.status == 2
    place = f"{Path('base.toml').absolute()}:1"
    assert result.err == f"error: {place}: unknown setting `ignored` (did you mean `ignore`?)\n"


def test_severity_is_overridden_by_the_most_precise_name(devlint, files):
    files({"pyproject.toml": configure('severity = { DEV = "info", DEV101 = "warning" }'), "a.py": BOTH})
    ranked = {each["code"]: each["severity"] for each in json.loads(devlint("a.py", "--output-format", "json").out)}
    assert ranked == {"DEV101": "warning", "DEV201": "info"}


def test_a_configuration_file_may_be_named(devlint, files):
    files({"pyproject.toml": configure('select = ["DEV1"]'), "ci/strict.toml": 'select = ["DEV2"]', "a.py": BOTH})
    assert devlint("a.py", "--config", "ci/strict.toml").found == ["a.py:2 DEV201"]


def test_a_configuration_file_that_is_missing_is_an_error(devlint, files):
    files({"a.py": BOTH})
    result = devlint("a.py", "--config", "none.toml")
    assert result.status == 2
    assert "'none.toml' does not exist" in result.err


def test_the_right_version_is_required(devlint, files):
    files({"devlint.toml": 'required-version = ">=0.1,<99"', "a.py": BOTH})
    assert devlint("a.py").status == 1


def test_a_source_folder_that_is_missing_is_told_with_file_and_key(devlint, files):
    files({"a.py": "pass # BUG DEV101\n", "lib/b.py": ""})
    files({"devlint.toml": '# of this project\nsrc = [".", "nowhere", "lib"]\n'})
    result = devlint()
    assert (result.status, result.found) == (1, ["a.py:1 DEV101"])
    assert result.err.startswith("warning: ")
    assert result.err.endswith("devlint.toml:2: `src`: there is no folder `nowhere`\n")
    assert result.err.count("\n") == 1
    files({"devlint.toml": 'src = [".", "lib"]\n'})
    assert devlint().err == ""
    files({"devlint.toml": ""})
    assert devlint().err == "", "the default names folders that need not be there"
