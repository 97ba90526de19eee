"""What `pyproject.toml` says, seen from the command line."""

from __future__ import annotations

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
        ('select = ["DEV101", 2]', "`select`: expected a list of strings, got a list"),
        ('ignore = ["DEV7"]', "`ignore`: unknown rule `DEV7`"),
        ('extend-select = ["mixed-devic-op"]', "did you mean `mixed-device-op`?"),
        ('min-confidence = "sure"', '`min-confidence`: expected one of "certain", "likely", "possible", got "sure"'),
        ("min-confidence = []", '`min-confidence`: expected one of "certain", "likely", "possible", got a list'),
        ('per-file-ignores = ["tests"]', "`per-file-ignores`: expected a table of pattern = [rules], got a list"),
        ('per-file-ignores = { "tests" = ["DEV8"] }', "`per-file-ignores`: unknown rule `DEV8`"),
        ('force-exclude = "yes"', '`force-exclude`: expected true or false, got "yes"'),
        ('exclude = ["!"]', "`exclude`: "),
        ("select = [", "not valid TOML"),
    ],
)
def test_what_cannot_be_used_is_said_with_file_and_key(devlint, files, text, complaint):
    files({"pyproject.toml": configure(text), "a.py": BOTH, "ok/pyproject.toml": configure(""), "ok/b.py": BOTH})
    result = devlint(".")
    assert result.status == 2
    assert result.err.startswith(f"error: {Path('pyproject.toml').absolute()}: ")
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
