"""Formatting of the changes to a file as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from devlint.syntax.line_starts import NEWLINE


def unified_diff(filename: str, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff between two versions of a file; nothing if they are equal."""
    if before == after:
        return
    for line in difflib.unified_diff(_lines(before), _lines(after), filename, filename):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> list[str]:
    r"""Return the lines of a text, each with its line end; only `\n`, `\r\n` and `\r` end a line, as in Python."""
    ends = [found.end() for found in NEWLINE.finditer(text)]
    starts = [0, *ends]
    return [text[start:end] for start, end in zip(starts, [*ends, len(text)], strict=True) if start < end]
