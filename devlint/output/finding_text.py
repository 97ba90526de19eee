"""Write a finding as plain lines of text, for formats without markup."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.diagnostic import Diagnostic
from devlint.output.terminal_style import format_place


def headline(diagnostic: Diagnostic) -> str:
    """Return the code, the message and the rule's name of a finding."""
    return f"{diagnostic.code} {diagnostic.message} ({diagnostic.name})"


def explanation_lines(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield the steps of a finding's trace, numbered from the oldest, and its help."""
    for number, note in enumerate(diagnostic.trace, 1):
        yield f"{number}. {format_place(note.region)}: {note.message}"
    if diagnostic.help:
        yield f"help: {diagnostic.help}"
