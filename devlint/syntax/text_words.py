"""The search for a whole word in a text; a pattern with `\\b` tries every character, which takes ten times as long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_USE: Final = re.compile(r"\s*[(.\[]")
"""What stands behind a name whose value is called, or asked for an attribute or an item."""


def has_word(text: str, word: str) -> bool:
    r"""Return whether a text holds a word that is no part of a longer one, as the pattern `\bword\b` does."""
    return next(ends_of_word(text, word), None) is not None


def is_used(text: str, word: str) -> bool:
    """Return whether a text calls what a name stands for, or asks it for an attribute or an item."""
    return any(_USE.match(text, end) for end in ends_of_word(text, word))


def ends_of_word(text: str, word: str) -> Iterator[int]:
    """Yield the ends of the words in a text that are a given word, and no part of a longer one."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (before == "_" or before.isalnum() or after == "_" or after.isalnum()):
            yield end
        start = text.find(word, start + 1)
