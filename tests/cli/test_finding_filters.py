"""`--changed` and `--baseline`, with a real repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

BUG = "pass # BUG DEV101\n"
CONFLICT = '{\n<<<<<<< HEAD\n  "version": 1,\n=======\n  "version": 1,\n>>>>>>> other\n  "findings": []\n}\n'
REMEDY = "mend or delete it, then run `devlint --baseline known.json --update-baseline`"
PROGRAM = """\
def one():
    pass # BUG DEV101
    x = 1


def two():
    pass # BUG DEV101


pass # BUG DEV201
"""


@pytest.fixture
def git(tmp_path, monkeypatch):
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")

    def run(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    return run


@pytest.fixture
def committed(git, files):
    """A repository with one commit."""
    files({"a.py": PROGRAM, "sub/b.py": BUG})
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "first")


def edit(name: str, old: str, new: str) -> None:
    path = Path(name)
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.usefixtures("committed")
class TestChanged:
    def test_nothing_has_changed(self, devlint):
        result = devlint("--changed")
        assert result.found == []
        assert result.err == "note: no findings in what changed (2 files checked)\n"

    def test_a_changed_function(self, devlint):
        edit("a.py", "    x = 1", "    x = 2")
        assert devlint("--changed", ".").found == ["a.py:2 DEV101"]

    def test_a_changed_line_outside_all_functions(self, devlint):
        edit("a.py", "pass # BUG DEV201", "pass  # BUG DEV201")
        assert devlint("--changed").found == ["a.py:10 DEV201"]

    def test_lines_that_were_taken_out(self, devlint):
        edit("a.py", "    x = 1\n", "")
        assert devlint("--changed").found == ["a.py:2 DEV101"]

    def test_a_new_file(self, devlint, files):
        files({"new.py": BUG, "with space.py": BUG})
        assert devlint("--changed").found == ["new.py:1 DEV101", "with space.py:1 DEV101"]

    def test_from_a_subdirectory(self, devlint, monkeypatch):
        edit("sub/b.py", "pass", "pass ")
        monkeypatch.chdir("sub")
        assert devlint("--changed").found == ["b.py:1 DEV101"]

    def test_what_others_did_meanwhile_does_not_count(self, devlint, git):
        git("switch", "-q", "-c", "work")
        edit("sub/b.py", "pass", "pass ")
        git("commit", "-q", "-a", "-m", "mine")
        git("switch", "-q", "main")
        edit("a.py", "x = 1", "x = 2")
        git("commit", "-q", "-a", "-m", "theirs")
        git("switch", "-q", "work")
        assert devlint("--changed=main").found == ["sub/b.py:1 DEV101"]
        assert devlint("--changed").found == []

    def test_text_that_looks_like_a_diff(self, devlint):
        edit("a.py", "    x = 1\n", '    x = """\n++ b/sub/b.py\n@@ -1 +1 @@\n"""\n')
        assert devlint("--changed").found == ["a.py:2 DEV101"]

    def test_an_unknown_commit(self, devlint):
        result = devlint("--changed=nowhere")
        assert result.status == 2
        assert result.err == "error: --changed: git knows no commit `nowhere`\n"


def test_a_renamed_file_has_not_changed(devlint, committed, git):
    git("mv", "a.py", "renamed.py")
    assert devlint("--changed").found == []
    edit("renamed.py", "    x = 1", "    x = 2")
    assert devlint("--changed").found == ["renamed.py:2 DEV101"]


def test_changed_outside_a_repository(devlint, files):
    files({"a.py": BUG})
    result = devlint("--changed")
    assert result.status == 2
    assert "not a git repository" in result.err


def test_a_baseline_leaves_out_what_is_known(devlint, files):
    files({"a.py": PROGRAM, "sub/b.py": BUG})
    first = devlint("--baseline", "known.json", "--update-baseline")
    assert (first.status, first.out, first.err) == (0, "", "note: 4 written to known.json\n")
    again = devlint("--baseline", "known.json")
    assert (again.status, again.out, again.err.splitlines()[0]) == (0, "", "note: 4 known from known.json")
    edit("a.py", "pass # BUG DEV201", BUG)
    assert devlint("--baseline", "known.json").found == ["a.py:10 DEV101"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def one", "import torch\n\n\ndef one"),
        ("    pass # BUG DEV101\n    x = 1", "    x = 2\n\n    pass # BUG DEV101"),
        ("def one():\n", "def one(\n    a=1,\n):\n"),
    ],
)
def test_known_findings_are_known_again_after_an_edit(devlint, files, old, new):
    files({"a.py": PROGRAM})
    devlint("--baseline", "known.json", "--update-baseline")
    edit("a.py", old, new)
    result = devlint("--baseline", "known.json")
    assert (result.status, result.err) == (0, "note: 3 known from known.json\nnote: no other findings in 1 file\n")


def test_known_findings_are_known_again_after_the_file_was_moved(devlint, files):
    files({"a.py": PROGRAM})
    devlint("--baseline", "known.json", "--update-baseline")
    Path("a.py").rename("b.py")
    assert devlint("--baseline", "known.json").err.startswith("note: 3 known from known.json\n")


def test_a_second_finding_like_a_known_one_is_new(devlint, files):
    files({"a.py": PROGRAM})
    devlint("--baseline", "known.json", "--update-baseline")
    edit("a.py", "    x = 1", "    pass # BUG DEV101")
    assert devlint("--baseline", "known.json").found == ["a.py:3 DEV101"]


def test_what_is_gone_is_told(devlint, files):
    files({"a.py": PROGRAM, "sub/b.py": BUG})
    devlint("--baseline", "known.json", "--update-baseline")
    edit("a.py", "pass # BUG DEV201", "pass")
    assert "note: gone, though known.json has it: a.py: DEV201 DEV201 here\n" in devlint("--baseline", "known.json").err
    assert "gone" not in devlint("sub", "--baseline", "known.json").err
    Path("sub/b.py").unlink()
    assert "gone, though known.json has it: sub/b.py: DEV101" in devlint(".", "--baseline", "known.json").err
    # The code may have moved to a file that this run does not check.
    assert "sub/b.py" not in devlint("a.py", "--baseline", "known.json").err


def test_what_was_not_looked_for_is_not_gone(devlint, files):
    files({"a.py": PROGRAM, "sub/b.py": BUG})
    devlint("--baseline", "known.json", "--update-baseline")
    assert "gone" not in devlint("--baseline", "known.json", "--select", "DEV2").err
    edit("a.py", "pass # BUG DEV201", "pass")
    assert "gone" not in devlint("--baseline", "known.json", "--ignore", "DEV2").err
    assert devlint("--baseline", "known.json", "--select", "DEV2").err.count("gone") == 1
    files({"devlint.toml": 'per-file-ignores = { "a.py" = ["DEV2"] }'})
    assert "gone" not in devlint("--baseline", "known.json").err


def test_a_vanished_file_is_not_gone_for_a_rule_that_is_off(devlint, files):
    files({"a.py": PROGRAM, "sub/b.py": BUG})
    devlint("--baseline", "known.json", "--update-baseline")
    Path("sub/b.py").unlink()
    assert "gone" not in devlint("--baseline", "known.json", "--select", "DEV2").err
    assert "sub/b.py: DEV101" in devlint("--baseline", "known.json", "--select", "DEV1").err


@pytest.mark.usefixtures("committed")
def test_what_is_known_in_unchanged_code_is_not_gone(devlint):
    devlint("--baseline", "known.json", "--update-baseline")
    edit("a.py", "    x = 1", "    x = 2")
    result = devlint("--changed", "--baseline", "known.json")
    assert (result.found, "gone" in result.err) == ([], False)
    edit("a.py", "    x = 2", "    pass # BUG DEV201")
    result = devlint("--changed", "--baseline", "known.json")
    assert (result.found, "gone" in result.err) == (["a.py:3 DEV201"], False)
    edit("sub/b.py", "pass # BUG DEV101", "pass")
    assert devlint("--changed", "--baseline", "known.json").err.count("gone") == 1


def test_an_update_keeps_the_rules_that_are_off(devlint, files):
    files({"a.py": PROGRAM})
    devlint("--baseline", "known.json", "--update-baseline")
    edit("a.py", "pass # BUG DEV201", "pass")
    result = devlint("--baseline", "known.json", "--select", "DEV1", "--update-baseline")
    assert result.err == "note: 2 written to known.json, 1 of what was not checked kept\n"
    assert [entry["code"] for entry in json.loads(Path("known.json").read_text())["findings"]] == [
        "DEV101",
        "DEV101",
        "DEV201",
    ]
    result = devlint("--baseline", "known.json", "--update-baseline")
    assert result.err == "note: 2 written to known.json\n"


def test_an_update_keeps_what_was_not_checked(devlint, files):
    files({"a.py": PROGRAM, "sub/b.py": BUG})
    devlint("--baseline", "known.json", "--update-baseline")
    edit("a.py", "pass # BUG DEV201", "pass")
    devlint("a.py", "--baseline", "known.json", "--update-baseline")
    listed = json.loads(Path("known.json").read_text())["findings"]
    assert [(entry["file"], entry["code"]) for entry in listed] == [
        ("a.py", "DEV101"),
        ("a.py", "DEV101"),
        ("sub/b.py", "DEV101"),
    ]


def test_a_baseline_is_read_from_elsewhere(devlint, files, monkeypatch):
    files({"ci/x": "", "a.py": PROGRAM})
    devlint("--baseline", "ci/known.json", "--update-baseline")
    monkeypatch.chdir("ci")
    assert devlint("..", "--baseline", "known.json").err.startswith("note: 3 known from known.json\n")


def test_the_configuration_names_a_baseline(devlint, files, monkeypatch):
    setting = '[tool.devlint]\nbaseline = "ci/known.json"\n'
    files({"pyproject.toml": setting, "ci/x": "", "a.py": PROGRAM, "sub/b.py": BUG})
    assert devlint("--update-baseline").err == f"note: 4 written to {Path('ci/known.json')}\n"
    result = devlint()
    assert (result.status, result.out) == (0, "")
    assert result.err == f"note: 4 known from {Path('ci/known.json')}\nnote: no other findings in 2 files\n"
    assert len(devlint("--no-baseline").found) == 4
    assert 'baseline = "' in devlint("--show-settings").out
    # The command line overrides it.
    devlint("sub", "--baseline", "other.json", "--update-baseline")
    assert devlint("--baseline", "other.json").found == ["a.py:2 DEV101", "a.py:7 DEV101", "a.py:10 DEV201"]
    monkeypatch.chdir("sub")
    assert devlint("b.py").found == []


def test_each_project_has_its_own_baseline(devlint, files):
    files({"one/devlint.toml": 'baseline = "known.json"', "one/a.py": BUG, "two/b.py": BUG})
    devlint("one", "--update-baseline")
    assert devlint(".").found == ["two/b.py:1 DEV101"]


def test_a_baseline_of_the_configuration_must_be_there(devlint, files):
    files({"devlint.toml": 'baseline = "known.json"', "a.py": BUG})
    result = devlint()
    assert result.status == 2
    assert result.err.startswith("error: ")
    assert "known.json: no such file; `devlint --update-baseline` makes it\n" in result.err
    assert devlint("--update-baseline").status == 0
    assert devlint().status == 0


def test_what_is_revealed_is_never_known(devlint, files):
    files({"a.py": "pass # BUG DEV902\n"})
    assert devlint("--baseline", "known.json", "--update-baseline").err == "note: 0 written to known.json\n"
    assert devlint("--baseline", "known.json").found == ["a.py:1 DEV902"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "known.json: no such file; `devlint --baseline known.json --update-baseline` makes it\n"),
        ("[", "known.json: not a baseline: "),
        ("[]", f"known.json: not a baseline; {REMEDY}\n"),
        ('{"version": 1, "findings": [1]}', f"known.json: not a baseline; {REMEDY}\n"),
        (CONFLICT, f"known.json: not a baseline: line 2 has the mark of a merge conflict; {REMEDY}\n"),
        ('{"version": 2}', "known.json: written by another version of devlint"),
    ],
)
def test_a_baseline_that_cannot_be_used(devlint, files, content, complaint):
    files({"a.py": BUG, **({} if content is None else {"known.json": content})})
    result = devlint("a.py", "--baseline", "known.json")
    assert result.status == 2
    assert result.err.startswith(f"error: {complaint}")


def test_an_update_leaves_a_broken_baseline_alone(devlint, files):
    files({"a.py": BUG, "known.json": CONFLICT})
    result = devlint("a.py", "--baseline", "known.json", "--update-baseline")
    assert (result.status, Path("known.json").read_text()) == (2, CONFLICT)
    assert result.err.endswith(f"{REMEDY}\n")
    Path("known.json").unlink()
    assert devlint("a.py", "--baseline", "known.json", "--update-baseline").status == 0
    assert devlint("a.py", "--baseline", "known.json").status == 0


def test_a_message_with_the_mark_of_a_conflict_breaks_no_baseline(devlint, files):
    entry = {"file": "b.py", "code": "DEV101", "fingerprint": "1", "message": "======= <<<<<<< HEAD"}
    files({"a.py": "pass\n", "known.json": json.dumps({"version": 1, "findings": [entry]})})
    assert devlint("a.py", "--baseline", "known.json").status == 0


@pytest.mark.parametrize("options", [["--update-baseline"], ["--update-baseline", "--baseline=x", "--changed"]])
def test_an_update_needs_a_baseline_and_everything(devlint, options):
    result = devlint(*options)
    assert result.status == 2
    assert "--update-baseline " in result.err
