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
]
"""Comments that are not understood, and what is said of them."""
BAD = {message: f"x + torch.ones(3)  # {comment}\n" for comment, message in MESSAGES}
GOOD = {
    "a code": "x + torch.ones(3)  # devlint: ignore[DEV101]\n",
    "a family and a name": "x + torch.ones(3)  # devlint: ignore[dev1, discarded-transfer]\n",
    "unused": "x + x  # devlint: ignore[DEV101]\n",
    "noqa": "x + x  # noqa: DEV999\n",
    "a sentence": "x + x  # devlint: this sentence speaks of it\n",
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


def test_the_words_that_are_understood_silence(tmp_path: Path) -> None:
    found = told("x + torch.ones(3)  # devlint: ignore[DEV101, DEV999]\n", tmp_path)
    assert found == [("DEV903", "there is no rule `DEV999`")]


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_the_rest_is_not(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == []


def test_it_is_off_where_it_is_ignored(tmp_path: Path) -> None:
    assert told("x + x  # devlint: ignore[DEV999]\n", tmp_path, USUAL - {"DEV903"}) == []
