"""Search for the offsets of values in a JSON text, so that a value can be replaced without changing the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class JsonSpan:
    """The offsets of a JSON value in its text: of its first character, and of the character behind its last one."""

    start: int
    end: int

    def cut(self, text: str) -> str:
        """Return the part of a text that the span covers."""
        return text[self.start : self.end]


def object_members(text: str, at: int = 0) -> dict[str, JsonSpan]:
    """Return a mapping from the keys of a JSON object to the spans of their values.

    The object begins at offset `at`, or behind white space there, in a text that must be valid JSON.
    """
    found = {}
    at = _skip_blanks(text, _skip_blanks(text, at) + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        span = _value_span(text, _skip_blanks(text, at) + 1)
        found[key] = span
        at = _next_item(text, span.end)
    return found


def array_elements(text: str, at: int = 0) -> Iterator[JsonSpan]:
    """Yield the spans of the elements of a JSON array.

    The array begins at offset `at`, or behind white space there, in a text that must be valid JSON.
    """
    at = _skip_blanks(text, _skip_blanks(text, at) + 1)
    while text[at] != "]":
        span = _value_span(text, at)
        yield span
        at = _next_item(text, span.end)


def _value_span(text: str, at: int) -> JsonSpan:
    """Return the span of the JSON value that begins at an offset, or behind white space at that offset."""
    start = _skip_blanks(text, at)
    return JsonSpan(start, _DECODER.raw_decode(text, start)[1])


def _next_item(text: str, at: int) -> int:
    """Return the offset of the next item of a JSON array or object, or of the closing bracket if no item follows.

    `at` is the offset behind the item before.
    """
    at = _skip_blanks(text, at)
    return _skip_blanks(text, at + 1) if text[at] == "," else at


def _skip_blanks(text: str, at: int) -> int:
    """Return the offset of the first character at or after `at` that is not JSON white space."""
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
