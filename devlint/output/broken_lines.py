"""Prose in lines that fit a terminal, broken between words: a terminal itself breaks lines anywhere."""

from __future__ import annotations

import textwrap
from typing import Final

from devlint.output.report_context import ReportContext

NARROWEST: Final = 40
"""The columns that a report takes on a terminal that is narrower still."""


def broken_lines(text: str, context: ReportContext, first_indent: int, indent: int) -> list[str]:
    """Return a text in lines that a terminal need not break, broken between words only; elsewhere in one line.

    The first line stands after `first_indent` columns, and the others after `indent`; the lines come without these.
    """
    if not context.on_terminal:
        return [text]
    broken = textwrap.wrap(
        text,
        max(context.width, NARROWEST),
        initial_indent=" " * first_indent,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [broken[0][first_indent:], *(line[indent:] for line in broken[1:])] if broken else [text]


def broken_text(text: str, context: ReportContext, indent: int = 0) -> str:
    """Return a text that begins a line as such lines, each with its end; all but the first are indented."""
    first, *rest = broken_lines(text, context, 0, indent)
    return "".join(f"{line}\n" for line in (first, *(" " * indent + line for line in rest)))
