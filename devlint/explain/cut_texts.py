"""Long texts cut for messages, between words and never inside one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_WORD: Final = re.compile(r"\d[\w.]*|\w+|[^\w\s]")
"""What a cut does not break: a number, a word or a sign."""


_FITS_AFTER_DOTS: Final = re.compile(r"[\w,]")
"""What may follow the dots of a cut: `f(..., b)` and `a...weight` read well, `f(...="cuda")` does not."""
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


def cut_code(text: str, longest: int) -> str:
    """Return an expression with dots for a part of it if it has more than `longest` characters.

    A name is kept whole, because half of it tells nothing. Else the middle is left out; where the rest would have
    brackets or quotes without a partner, the contents of brackets are.
    """
    if all(part.isidentifier() for part in text.split(".")):
        return text
    cut = cut_in_middle(text, longest)
    if cut == text or _reads_well(cut):
        return cut
    left_out: list[tuple[int, int]] = []
    for group in sorted(_groups(text), key=lambda one: one[0] - one[1]):
        if len(_with_dots(text, left_out)) > longest:
            left_out.append(group)
    return cut_in_middle(_with_dots(text, left_out), longest)


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


def _reads_well(cut: str) -> bool:
    """Return whether the brackets and quotes around the dots of a cut expression have their partners."""
    head, _, tail = cut.partition("...")
    quotes = (text.count(quote) % 2 for text in (head, tail) for quote in "\"'")
    return _closed(head + tail) and not any(quotes) and _FITS_AFTER_DOTS.match(tail) is not None


def _closed(text: str) -> bool:
    """Return whether each bracket of a text has its partner."""
    waiting = []
    for sign in text:
        if sign in _OPENING:
            waiting.append(_OPENING[sign])
        elif sign in _OPENING.values() and (not waiting or waiting.pop() != sign):
            return False
    return not waiting


def _groups(text: str) -> list[tuple[int, int]]:
    """Return where the contents of the outermost brackets of an expression begin and end."""
    found = []
    depth = start = 0
    quote = ""
    for position, sign in enumerate(text):
        if quote or sign in "\"'":
            quote = "" if sign == quote else quote or sign
        elif sign in _OPENING:
            start = start if depth else position + 1
            depth += 1
        elif sign in _OPENING.values():
            depth -= 1
            if not depth:
                found.append((start, position))
    return found


def _with_dots(text: str, left_out: Iterable[tuple[int, int]]) -> str:
    """Return a text with dots for the parts between the given positions that are longer than dots."""
    for start, end in sorted(left_out, reverse=True):
        text = f"{text[:start]}...{text[end:]}" if end - start > len("...") else text
    return text
