"""Suppressions that are not understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.linter.rule_loader import all_rules

from .programs import lint

USUAL = frozenset(rule.code for rule in all_rules() if rule.default)
BUG = 'import torch\n\nx = torch.ones(3, device="cuda")\n'


MESSAGES = [
    ("devlint: ignore[DEV999]", "there is no rule `DEV999`"),
    ("devlint: ignore[DEV1011]", "there is no rule `DEV1011` (did you mean `DEV101`?)"),
    ("devlint: ignore[mixed]", "there is no rule `mixed` (did you mean `mixed-device-op`?)"),
    ("devlint: ignore[Mixed-Devices-Op]", "there is no rule `Mixed-Devices-Op` (did you mean `mixed-device-op`?)"),
    ("devlint: ignore[zebra, DEV999]", "there is no rule `zebra`, `DEV999`"),
    ("devlint: ignroe[DEV101]", "`# devlint: ignroe[DEV101]` silences nothing: did you mean `ignore`?"),
    (
        "devlint: skip[DEV101]",
        "`# devlint: skip[DEV101]` silences nothing:"
        " the words are ignore-next-line, ignore, file-ignore, disable, enable",
    ),
    (
        "devlint: ignore[DEV101] it is fine",
        "`# devlint: ignore[DEV101]` silences nothing: a reason follows after `--`",
    ),
    ("devlint: ignore[]", "`# devlint: ignore[]` silences nothing: no rule stands in the brackets"),
    ("devlint: ignore[ , ]", "`# devlint: ignore[ , ]` silences nothing: no rule stands in the brackets"),
    (
        "devlint: ignore DEV103",
        "`# devlint: ignore DEV103` silences nothing: write `# devlint: ignore[DEV103]`",
    ),
    (
        "devlint: ignore(DEV103, mixed-device-op)",
        "`# devlint: ignore(DEV103, mixed-device-op)` silences nothing:"
        " write `# devlint: ignore[DEV103, mixed-device-op]`",
    ),
    ("devlint: ignore[DEV103", "`# devlint: ignore[DEV103` silences nothing: write `# devlint: ignore[DEV103]`"),
    (
        "devlint: ignore: DEV103 DEV1 the caller moves it",
        "`# devlint: ignore: DEV103 DEV1` silences nothing:"
        " write `# devlint: ignore[DEV103, DEV1] -- the caller moves it`",
    ),
    ("devlint: ignore-line", "`# devlint: ignore-line` silences nothing: write `# devlint: ignore`"),
    (
        "devlint: disable-line[DEV103] -- so",
        "`# devlint: disable-line[DEV103]` silences nothing: write `# devlint: ignore[DEV103] -- so`",
    ),
    (
        "devlint: disable-next-line=DEV103",
        "`# devlint: disable-next-line=DEV103` silences nothing: write `# devlint: ignore-next-line[DEV103]`",
    ),
    (
        "devlint: disable-file DEV4",
        "`# devlint: disable-file DEV4` silences nothing: write `# devlint: file-ignore[DEV4]`",
    ),
    (
        "DEVLINT: Ignore[DEV101]",
        "`# DEVLINT: Ignore[DEV101]` silences nothing: write `# devlint: ignore[DEV101]`",
    ),
    ("Devlint: ignore", "`# Devlint: ignore` silences nothing: write `# devlint: ignore`"),
    (
        "devlint ignore[DEV101]",
        "`# devlint ignore[DEV101]` silences nothing: write `# devlint: ignore[DEV101]`",
    ),
    (
        "devlint ignore DEV101 -- why",
        "`# devlint ignore DEV101` silences nothing: write `# devlint: ignore[DEV101] -- why`",
    ),
    (
        "devlint; ignroe[mixed-device-op] because",
        "`# devlint; ignroe[mixed-device-op]` silences nothing: write `# devlint: ignore[mixed-device-op] -- because`",
    ),
    (
        "devlnt: ignore[DEV101]",
        "`# devlnt: ignore[DEV101]` silences nothing: write `# devlint: ignore[DEV101]`",
    ),
    (
        "why # dev-lint: disable-line=DEV101, DEV2",
        "`# dev-lint: disable-line=DEV101, DEV2` silences nothing: write `# devlint: ignore[DEV101, DEV2]`",
    ),
    ("devlint: ignore[DEV1O3]", "there is no rule `DEV1O3` (did you mean `DEV103`?)"),
    ("devlint: ignore[devl03]", "there is no rule `devl03` (did you mean `DEV103`?)"),
    ("devlint: ignore[DEV30X]", "there is no rule `DEV30X` (did you mean `DEV30`?)"),
    ("noqa: DEV1O3", "there is no rule `DEV1O3` (did you mean `DEV103`?)"),
]
"""Comments that are not understood, and what is said of them."""
BAD = {message: f"x + torch.ones(3)  # {comment}\n" for comment, message in MESSAGES}
GOOD = {
    "a code": "x + torch.ones(3)  # devlint: ignore[DEV101]\n",
    "a family and a name": "x + torch.ones(3)  # devlint: ignore[dev1, discarded-transfer]\n",
    "unused": "x + x  # devlint: ignore[DEV101]\n",
    "noqa": "x + x  # noqa: DEV999\n",
    "noqa of another linter": "x + x  # noqa: DEVX1, DEVICE2\n",
    "a sentence": "x + x  # devlint: this sentence speaks of it\n",
    "a sentence with a near word": "x + x  # devlint: ignored because of its size\n",
    "a sentence with a code": "x + x  # devlint: see DEV101 (and DEV1O3) for this\n",
    "a sentence that begins with the name": "x + x  # Devlint: disabled by the caller\n",
    "a sentence about noqa": "x + x  # use noqa: not DEV1O3\n",
    "a sentence without a colon": "x + x  # devlint ignores DEV101 (here)\n",
    "a command in a sentence": "x + x  # devlint disable DEV101 where it is known\n",
    "a sentence that ends with a code": "x + x  # devlint disallows DEV101\n",
    "no rules without a colon": "x + x  # devlint ignore\n",
    "brackets without rules": "x + x  # devlint ignores[0]\n",
    "another tool": "x + x  # dartlint: ignore[DEV101]\n",
    "another tool with a near name": "x + x  # devlinter: ignore[E501]\n",
    "another tool of the same family": "x + x  # DevSkim: ignore DS126858\n",
    "on purpose": "x + x  # devlint: ignore[DEV999, DEV903]\n",
    "a string": "s = '# devlint: ignore[DEV999]'\n",
}


def told(text: str, folder: Path, codes: frozenset[str] = USUAL) -> list[tuple[str, str]]:
    found = lint(BUG + text, codes, folder)
    return [(one.code, one.message if one.code == "DEV903" else "") for one in found]


@pytest.mark.parametrize(("text", "message"), [(text, message) for message, text in BAD.items()])
def test_by_default_it_is_reported_beside_the_bug(text: str, message: str, tmp_path: Path) -> None:
    found = told(text, tmp_path)
    assert sorted(found) == [("DEV101", ""), ("DEV903", message)]


def test_a_letter_behind_the_beginning_of_codes_is_told_though_they_are_silenced(tmp_path: Path) -> None:
    found = told("x + torch.ones(3)  # noqa: E501, DEV10X\n", tmp_path)
    assert found == [("DEV903", "there is no rule `DEV10X` (did you mean `DEV10`?)")]


def test_a_file_without_other_findings_is_looked_at(tmp_path: Path) -> None:
    found = [text for _, text in told("x + x  # noqa: DEV1O3\nx + x  # DEVLINT: ignore\n", tmp_path)]
    assert found == [
        "there is no rule `DEV1O3` (did you mean `DEV103`?)",
        "`# DEVLINT: ignore` silences nothing: write `# devlint: ignore`",
    ]


def test_the_words_that_are_understood_silence(tmp_path: Path) -> None:
    found = told("x + torch.ones(3)  # devlint: ignore[DEV101, DEV999]\n", tmp_path)
    assert found == [("DEV903", "there is no rule `DEV999`")]


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_the_rest_is_not(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == []


def test_it_is_off_where_it_is_ignored(tmp_path: Path) -> None:
    assert told("x + x  # devlint: ignore[DEV999]\n", tmp_path, USUAL - {"DEV903"}) == []
