"""Find where values stand in a JSON text, so that a value can be replaced in place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class JsonSpan:
    """The offsets of the first character of a JSON value and of the character behind its last."""

    start: int
    end: int

    def cut(self, text: str) -> str:
        """Return the part of the text that the span covers."""
        return text[self.start : self.end]


def object_members(text: str, at: int = 0) -> dict[str, JsonSpan]:
    """Return the spans of the values of a JSON object, by key.

    The object begins at offset `at`, blanks aside, in a text that must be valid JSON.
    """
    found = {}
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        span = _value(text, _skip(text, at) + 1)
        found[key] = span
        at = _next(text, span.end)
    return found


def array_elements(text: str, at: int = 0) -> Iterator[JsonSpan]:
    """Yield the spans of the elements of a JSON array.

    The array begins at offset `at`, blanks aside, in a text that must be valid JSON.
    """
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "]":
        span = _value(text, at)
        yield span
        at = _next(text, span.end)


def _value(text: str, at: int) -> JsonSpan:
    """Return the span of the JSON value at or behind blanks at an offset."""
    start = _skip(text, at)
    return JsonSpan(start, _DECODER.raw_decode(text, start)[1])


def _next(text: str, at: int) -> int:
    """Return the offset of the next item or of the closing bracket, given the offset behind an item."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    """Return the offset of the first character at or after `at` that is not a JSON blank."""
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
