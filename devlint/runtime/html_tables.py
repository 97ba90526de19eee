"""The beginning of every table of the HTML report of a recorded run."""

from __future__ import annotations

from typing import Final

WIDE_TABLE: Final = '<div class="wide" tabindex="0"><table>\n'
"""The beginning of a table in a box that scrolls where the page is narrow, also by the keyboard."""
_OF_NUMBERS: Final = frozenset({"Functions", "Moved", "On the accelerator", "Time", "Transfers", "Waits"})
"""The titles of columns that hold numbers, which stand at the right."""


def heads(*titles: str) -> str:
    """Return the row of a table with the titles of its columns."""
    classes = (' class="number"' if title in _OF_NUMBERS else "" for title in titles)
    cells = "".join(f'<th scope="col"{kind}>{title}</th>' for title, kind in zip(titles, classes, strict=True))
    return f"<tr>{cells}</tr>\n"
