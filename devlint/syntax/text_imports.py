"""The imports of a file, read off its text by a pattern, without parsing the file.

The pattern finds the import statements at the top level and in functions. It may find text of a string as well: what it
finds is what a file imports at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_IMPORT: Final = re.compile(
    r"[\n:;]\s*(?:import\s(?P<modules>(?:[^\n;#\\]|\\\n)+)"
    r"|from(?=[\s.])(?:\s|\\\n)*(?P<level>[. \t]*)(?P<module>[\w.]*)(?:\s|\\\n)+import\b(?:[ \t]|\\\n)*"
    r"(?P<names>\((?:[^()#]|#[^\n]*\n)*\)|(?:[^\n;#\\]|\\\n)+))"
)
_NO_NAME: Final = re.compile(r"#[^\n]*|\\\n|[()]")
"""What may stand in a list of names besides them."""


class TextImport(NamedTuple):
    """An import: the dots before the module's name, the module, and the name that is taken from it ("" for none)."""

    level: int
    module: str
    attribute: str = ""

    @property
    def package(self) -> str:
        """Return the outermost package that is named, which Python imports first."""
        return self.module if self.level else self.module.partition(".")[0]

    @property
    def dotted(self) -> str:
        """Return the dotted name of what is taken from the module, as if that were a module too."""
        return f"{self.module}.{self.attribute}".strip(".")


def text_imports(text: str) -> Iterator[TextImport]:
    """Yield what a file imports, by its text."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # A pattern that starts with a character is searched faster than one that starts with the beginning of a line.
    for found in _IMPORT.finditer("\n" + text):
        if found["modules"] is not None:
            yield from (TextImport(0, name) for name in _names(found["modules"]))
            continue
        level, module = found["level"].count("."), found["module"]
        yield TextImport(level, module)
        yield from (TextImport(level, module, name) for name in _names(found["names"]))


def _names(text: str) -> Iterator[str]:
    """Yield the imported names of a list such as `(a, b as c)`; what follows `as` is left out."""
    for part in _NO_NAME.sub(" ", text).split(","):
        words = part.split()
        if words and (words[0] == "*" or words[0].replace(".", "").isidentifier()):
            yield words[0]
