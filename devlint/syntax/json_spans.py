"""Where the values of a JSON text stand in it: what is to be changed in place must be found there first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class JsonSpan:
    """From the first character of a value to behind the last."""

    start: int
    end: int

    def cut(self, text: str) -> str:
        """What stands there."""
        return text[self.start : self.end]


def object_members(text: str, at: int = 0) -> dict[str, JsonSpan]:
    """The values of the object that begins at an offset (or behind the blanks there), in a text that is valid JSON."""
    found = {}
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        span = _value(text, _skip(text, at) + 1)
        found[key] = span
        at = _next(text, span.end)
    return found


def array_elements(text: str, at: int = 0) -> Iterator[JsonSpan]:
    """The values of the array that begins at an offset (or behind the blanks there), in a text that is valid JSON."""
    at = _skip(text, _skip(text, at) + 1)
    while text[at] != "]":
        span = _value(text, at)
        yield span
        at = _next(text, span.end)


def _value(text: str, at: int) -> JsonSpan:
    start = _skip(text, at)
    return JsonSpan(start, _DECODER.raw_decode(text, start)[1])


def _next(text: str, at: int) -> int:
    """Where the next item or the closing bracket stands."""
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
