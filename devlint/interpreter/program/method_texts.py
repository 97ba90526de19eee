"""The texts of a class's methods, told from the indentation of its lines, without a parser."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from devlint.syntax.index import Statement

_METHOD: Final = re.compile(r"^([ \t]+)(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
"""The beginning of a line in a class that defines a function."""


class MethodText(NamedTuple):
    """A method of a class: its name, and where its text begins and ends, with what follows it up to the next method."""

    name: str
    start: int
    end: int


def methods_in(unit: Statement) -> Iterator[MethodText]:
    """Yield the methods of a class in their order: the functions that are indented least."""
    found = [*_METHOD.finditer(unit.text)]
    if not found:
        return
    least = min(len(one[1]) for one in found)
    own = [one for one in found if len(one[1]) == least]
    ends = [*(one.start() for one in own[1:]), len(unit.text)]
    for one, end in zip(own, ends, strict=True):
        yield MethodText(one[2], one.start(), end)


def method_texts(unit: Statement) -> Mapping[str, str]:
    """Return the text of each method of a class by its name, with what follows it up to the next method.

    The texts of methods with one name, such as the two of a property, are put together.
    """
    found: dict[str, str] = {}
    for name, start, end in methods_in(unit):
        found[name] = found.get(name, "") + unit.text[start:end]
    return found
