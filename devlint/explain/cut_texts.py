"""Long texts cut for messages, between words and never inside one."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"\d[\w.]*|\w+|[^\w\s]")
"""What a cut does not break: a number, a word or a sign."""


def cut_in_middle(text: str, longest: int) -> str:
    """Return a text whose middle is replaced by dots if it has more than `longest` characters."""
    if len(text) <= longest:
        return text
    room = longest - len("...")
    head = text[: _last_end(text, room // 2) or _last_end(text, room) or room]
    starts = (found.start() for found in _WORD.finditer(text))
    tail = text[next((start for start in starts if start >= len(text) - room + len(head)), len(text)) :]
    return f"{head.rstrip(' .,')}...{tail.lstrip(' .')}"


def cut_at_end(text: str, longest: int, dots: str = "...") -> str:
    """Return a text whose end is replaced by dots if it has more than `longest` characters."""
    if len(text) <= longest:
        return text
    room = longest - len(dots)
    return f"{text[: _last_end(text, room) or room].rstrip(' .,')}{dots}"


def _last_end(text: str, longest: int) -> int:
    """Return where the last word or sign ends that is among the first characters of a text; 0 if none ends there."""
    return max((found.end() for found in _WORD.finditer(text) if found.end() <= longest), default=0)
