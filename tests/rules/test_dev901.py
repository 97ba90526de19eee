"""Suppressions that silence nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from devlint.linter.rule_loader import all_rules

from ..fixes.programs import check_fix
from .programs import lint

USUAL = frozenset(rule.code for rule in all_rules() if rule.default) | {"DEV901"}
BUG = 'import torch\n\nx = torch.ones(3, device="cuda")\n'


MESSAGES = [
    ("x + x  # devlint: ignore[DEV101]", "`# devlint: ignore[DEV101]` silences nothing"),
    ("x + x  # devlint: ignore", "`# devlint: ignore` silences nothing"),
    ("# devlint: file-ignore[DEV1]", "`# devlint: file-ignore[DEV1]` silences nothing"),
    (
        "x + torch.ones(3)  # devlint: ignore[DEV201, mixed-device-op] -- why",
        "`DEV201` in `# devlint: ignore[DEV201, mixed-device-op] -- why` silences nothing",
    ),
    ("x + x  # noqa: DEV101", "`# noqa: DEV101` silences nothing"),
    ("x + x  # noqa: E501, DEV101", "`DEV101` in `# noqa: E501, DEV101` silences nothing"),
]
"""Lines with a suppression that silences nothing, and what is said of it."""
BAD = {message: line for line, message in MESSAGES}
GOOD = {
    "a code": "x + torch.ones(3)  # devlint: ignore[DEV101]\n",
    "everything": "x + torch.ones(3)  # devlint: ignore\n",
    "the next line": "# devlint: ignore-next-line[DEV1]\nx + torch.ones(3)\n",
    "a block": (
        "# devlint: disable[DEV101, DEV102]\nx + torch.ones(3)\nnn = torch.nn.Linear(3, 3)(x)\n# devlint: enable\n"
    ),
    "noqa": "x + torch.ones(3)  # noqa: DEV101\n",
    "another linter": "x + x  # noqa: E501\n",
    "a bare noqa": "x + x  # noqa\n",
    "a sentence": "x + x  # devlint: this sentence speaks of it\n",
    "on purpose": "x + x  # devlint: ignore[DEV101, DEV901]\n",
    "a rule that is off": "x + x  # devlint: ignore[DEV204]\n",
    "a rule that is not": "x + x  # devlint: ignore[DEV999]\n",
    "a string": "s = '# devlint: ignore'\n",
}


def told(text: str, folder: Path, codes: frozenset[str] = USUAL) -> list[tuple[int, str]]:
    return [(one.region.start.row - 3, one.message) for one in lint(BUG + text, codes, folder) if one.code == "DEV901"]


@pytest.mark.parametrize(("line", "message"), MESSAGES)
def test_what_silences_nothing_is_reported(line: str, message: str, tmp_path: Path) -> None:
    assert told(f"{line}\n", tmp_path) == [(1, message)]


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_the_rest_is_not(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == []


def test_a_rule_that_was_not_asked_is_not_judged(tmp_path: Path) -> None:
    line = "x + x  # devlint: ignore[DEV101]\n"
    assert told(line, tmp_path, frozenset({"DEV201", "DEV901"})) == []
    assert len(told(line, tmp_path, frozenset({"DEV101", "DEV901"}))) == 1


def test_a_suppression_of_a_family_needs_only_its_usual_rules(tmp_path: Path) -> None:
    assert len(told("x + x  # devlint: ignore[DEV2]\n", tmp_path)) == 1
    assert told("x + x  # devlint: ignore[DEV404]\n", tmp_path) == []


def test_they_are_taken_out() -> None:
    check_fix(
        """
        x = torch.ones(3, device="cuda")
        x + torch.ones(3)  # devlint: ignore[DEV101, DEV201] -- fine
        x + x  # devlint: ignore[DEV101]
        x + x  # why  # devlint: ignore[DEV101] -- because
        x + x  # devlint: ignore[DEV101]  # noqa: E501
        x + x  # noqa: DEV101, E501
        x + x  # noqa: DEV101
        # devlint: ignore-next-line[DEV101]
        x + x


        def f():
            # devlint: disable[DEV101]
            x + x
        # becomes (safe)
        x = torch.ones(3, device="cuda")
        x + torch.ones(3)  # devlint: ignore[DEV101] -- fine
        x + x
        x + x  # why
        x + x  # noqa: E501
        x + x  # noqa: E501
        x + x
        x + x


        def f():
            x + x
        """,
        "DEV101",
        "DEV201",
        "DEV901",
    )
