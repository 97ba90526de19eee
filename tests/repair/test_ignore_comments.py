"""Comments for what is found: they silence it, stand where Python allows them, and change nothing else."""

from __future__ import annotations

import ast
import json
import textwrap
from pathlib import Path

import pytest

from devlint.repair.ignore_comments import add_ignore_comments

from .programs import EVERYTHING, Program, Seen
from .test_everything import CASES, FIXTURES

PRELUDE = 'import torch\n\nx = torch.ones(3, device="cuda")\ny = torch.ones(3)\n'


def silenced(
    files: dict[str, bytes], reason: str | None = None, codes: frozenset[str] = frozenset({"DEV101", "DEV201"})
) -> tuple[dict[str, bytes], Seen]:
    program = Program(Path(__file__).parent / "nowhere", files, codes)
    seen = program.look(program.documents)
    done = add_ignore_comments(program.documents, seen, program.look, lambda one: one.diagnostics, reason)
    return {name: document.data for name, document in done.documents.items()}, done.seen


def check_comment(before: str, after: str, reason: str | None = None) -> None:
    before, after = (PRELUDE + textwrap.dedent(text).lstrip("\n") for text in (before, after))
    files, seen = silenced({"a.py": before.encode()}, reason)
    assert files["a.py"].decode() == after
    assert seen.diagnostics == ()


def test_a_line() -> None:
    check_comment("x + y\n", "x + y  # devlint: ignore[DEV101]\n")


def test_a_reason() -> None:
    check_comment("x + y\n", "x + y  # devlint: ignore[DEV101] -- later\n", "later")


def test_behind_another_comment() -> None:
    check_comment("x + y  # why \n", "x + y  # why  # devlint: ignore[DEV101]\n")


def test_a_list_that_is_there_is_extended() -> None:
    check_comment(
        "x + y  # devlint: ignore[DEV402] -- because\n",
        "x + y  # devlint: ignore[DEV402, DEV101] -- because\n",
    )


@pytest.mark.parametrize(
    ("there", "reason", "after"),
    [
        ("", "later", " -- later"),
        (" -- because", "later", " -- because; later"),
        (" -- because", "because", " -- because"),
        ("  # noqa: E501", "later", " -- later  # noqa: E501"),
        (" -- because  # noqa: E501", "later", " -- because; later  # noqa: E501"),
    ],
)
def test_a_reason_beside_a_comment_that_is_there(there: str, reason: str, after: str) -> None:
    check_comment(
        f"x + y  # devlint: ignore[DEV402]{there}\n", f"x + y  # devlint: ignore[DEV402, DEV101]{after}\n", reason
    )


def test_every_place_of_one_mistake() -> None:
    check_comment(
        """
        def step(flag):
            try:
                z = x + y
            except RuntimeError:
                z = x - y
            return z if flag else x * y
        """,
        """
        def step(flag):
            try:
                z = x + y  # devlint: ignore[DEV101]
            except RuntimeError:
                z = x - y  # devlint: ignore[DEV101]
            return z if flag else x * y  # devlint: ignore[DEV101]
        """,
    )


def test_two_rules_on_one_line() -> None:
    check_comment("y.cuda(); x + y\n", "y.cuda(); x + y  # devlint: ignore[DEV101, DEV201]\n")


def test_a_call_over_several_lines() -> None:
    check_comment(
        """
        print(
            1,
            x + y,
        )
        """,
        """
        print(
            1,
            x + y,  # devlint: ignore[DEV101]
        )
        """,
    )


def test_behind_strings_and_continuations() -> None:
    check_comment(
        '''
        print(x + y, """
        text""")
        z = x + \\
            torch.ones(3)
        ''',
        '''
        print(x + y, """
        text""")  # devlint: ignore[DEV101]
        z = x + \\
            torch.ones(3)  # devlint: ignore[DEV101]
        ''',
    )


def test_every_other_byte_is_kept() -> None:
    text = PRELUDE.replace("\n", "\r\n") + "\tx = 'é'\r\n".lstrip() + "x = torch.ones(3, device='cuda')\r\nx + y"
    data = b"\xef\xbb\xbf" + text.encode()
    files, _ = silenced({"a.py": data})
    assert files["a.py"] == data + b"  # devlint: ignore[DEV101]"


def test_a_notebook() -> None:
    def cell(source: str) -> dict[str, object]:
        return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}

    notebook = {"cells": [cell(PRELUDE), cell("%time 1\nx + y")], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    files, seen = silenced({"a.ipynb": json.dumps(notebook).encode()})
    assert seen.diagnostics == ()
    assert json.loads(files["a.ipynb"])["cells"][1]["source"] == "%time 1\nx + y  # devlint: ignore[DEV101]"


@pytest.mark.parametrize("files", FIXTURES[::7])
def test_a_fixture_falls_silent(files: dict[str, bytes]) -> None:
    check_silent(files)


@pytest.mark.skipif(not CASES, reason="the cases are not beside this checkout")
@pytest.mark.parametrize("folder", CASES[::4], ids=lambda folder: folder.parent.name)
def test_a_case_falls_silent(folder: Path) -> None:
    check_silent({path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.py"))})


def check_silent(files: dict[str, bytes]) -> None:
    after, seen = silenced(files, codes=EVERYTHING)
    assert [one for one in seen.diagnostics if not one.code.startswith("DEV9")] == []
    for name, data in files.items():
        assert ast.dump(ast.parse(after[name])) == ast.dump(ast.parse(data))
