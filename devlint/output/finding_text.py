"""Findings as plain lines of text, for output formats without markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from devlint.diagnostic import Confidence, Diagnostic
from devlint.output.terminal_style import format_place


def headline(diagnostic: Diagnostic) -> str:
    """Return the text `CODE message (name)` of a finding, with the code and the name of its rule."""
    return f"{diagnostic.code} {diagnostic.message} ({named_rule(diagnostic)})"


def named_rule(diagnostic: Diagnostic) -> str:
    """Return the name of a finding's rule, with the finding's confidence behind a comma unless it is certain."""
    if diagnostic.confidence is Confidence.CERTAIN:
        return diagnostic.name
    return f"{diagnostic.name}, {diagnostic.confidence.value}"


_PLACED: Final = " is on an accelerator"
"""The end of an assumption about the device of a value."""


def assumed_text(diagnostic: Diagnostic) -> str:
    """Return what a finding assumes, as one text; it must assume something."""
    messages = [*dict.fromkeys(one.message for one in diagnostic.assumptions)]
    for place in [one for one in messages if one.endswith(_PLACED)]:
        tensor = f"{place.removesuffix(_PLACED)} is a tensor"
        if tensor in messages:
            messages[messages.index(tensor)] = f"{tensor} on an accelerator"
            messages.remove(place)
    *others, last = messages
    return "that " + ", that ".join(others) + (" and that " if others else "") + last


def explanation_lines(diagnostic: Diagnostic) -> Iterator[str]:
    """Yield the explanation of a finding as lines of text: its trace, oldest step first, what it assumes, its help."""
    for number, note in enumerate(diagnostic.trace, 1):
        yield f"{number}. {format_place(note.region)}: {note.message}"
    if diagnostic.assumptions:
        yield f"assumes: {assumed_text(diagnostic)}"
    if diagnostic.help:
        yield f"help: {diagnostic.help}"
