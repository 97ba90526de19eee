"""The texts of a class's methods, told from the indentation of its lines, without a parser."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from devlint.syntax.index import Statement

_METHOD: Final = re.compile(r"([ \t]+)(?:async[ \t]+)?def[ \t]+(\w+)")
"""The beginning of a line that defines a function."""


def method_texts(unit: Statement) -> Mapping[str, str]:
    """Return the text of each method of a class by its name, with what follows it up to the next method.

    The texts of methods with one name, such as the two of a property, are put together.
    """
    found: dict[str, str] = {}
    name, indentation, start = "", "", 0
    lines = unit.text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        match = _METHOD.match(line)
        if match is None or (indentation and match[1] != indentation):
            continue
        if name:
            found[name] = found.get(name, "") + "".join(lines[start:number])
        name, indentation, start = match[2], match[1], number
    if name:
        found[name] = found.get(name, "") + "".join(lines[start:])
    return found
