"""What a finding says in plain lines, for the formats that take nothing but text."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Diagnostic
from devlint.output.terminal_style import format_place


def headline(diagnostic: Diagnostic) -> str:
    """The code, the message and the name of the rule."""
    return f"{diagnostic.code} {diagnostic.message} ({diagnostic.name})"


def explanation_lines(diagnostic: Diagnostic) -> Iterator[str]:
    """The steps, numbered from the oldest, and what to write instead."""
    for number, note in enumerate(diagnostic.trace, 1):
        yield f"{number}. {format_place(note.region)}: {note.message}"
    if diagnostic.help:
        yield f"help: {diagnostic.help}"
