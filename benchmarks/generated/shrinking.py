"""The shrinking of a program: it loses statements as long as the same kind of disagreement stays."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from generated.comparison import Disagreement, judge
from generated.program_generator import GeneratedProgram

_BODIES = ("body", "orelse", "finalbody", "handlers")


def shrunk(program: GeneratedProgram, wanted: Disagreement) -> GeneratedProgram:
    """Return a small program with a disagreement of the same kind and code. It needs a running emulation."""
    smallest = GeneratedProgram(
        program.seed, {name: ast.unparse(ast.parse(text)) for name, text in program.files.items()}
    )
    if not _disagrees(smallest, wanted):
        return program
    progress = True
    while progress:
        progress = False
        for name in smallest.files:
            number = 0
            while (text := _without(smallest.files[name], number)) is not None:
                candidate = GeneratedProgram(program.seed, {**smallest.files, name: text})
                if text != smallest.files[name] and _disagrees(candidate, wanted):
                    smallest, progress = candidate, True
                else:
                    number += 1
    return smallest


def _disagrees(program: GeneratedProgram, wanted: Disagreement) -> bool:
    """Return whether a program has a disagreement of the wanted kind and code."""
    return any((one.kind, one.code) == (wanted.kind, wanted.code) for one in judge(program).disagreements)


def _without(text: str, number: int) -> str | None:
    """Return a text with its change number `number` made; None if there are no more changes."""
    tree = ast.parse(text)
    for index, (owner, field, place, replacement) in enumerate(_changes(tree)):
        if index == number:
            body = getattr(owner, field)
            body[place : place + 1] = replacement
            if not body and field == "body":
                body.append(ast.Pass())
            return ast.unparse(tree)
    return None


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int, list[ast.stmt]]]:
    """Yield the changes of a tree: statements that go, and compound statements of which only the body stays."""
    for owner in ast.walk(tree):
        for field in _BODIES:
            body = getattr(owner, field, None)
            if not isinstance(body, list):
                continue
            for place in reversed(range(len(body))):
                statement = body[place]
                if isinstance(statement, ast.Pass) and len(body) == 1:
                    continue
                yield owner, field, place, []
                if isinstance(statement, ast.If | ast.For | ast.With | ast.Try | ast.While):
                    yield owner, field, place, statement.body
                    if getattr(statement, "orelse", None):
                        yield owner, field, place, statement.orelse  # type: ignore[union-attr]
