"""The names that a file may bind at its top level, by itself or by what it imports from other files."""

from __future__ import annotations

import re
from collections.abc import Set
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program

_BINDS_UNSEEN: Final = re.compile(
    r"\b(?:exec|globals|locals|vars)\s*\(|\bsetattr\s*\([^,]*module|\bsys\.modules\b|(?<!import )__dict__|__getattr__"
)
"""What may give a file names that it does not write out."""

_UNSEEN: Final = ("exec", "globals", "locals", "vars", "setattr", "sys.modules", "__dict__", "__getattr__")
"""The words of which each such piece of code has one: to look for them takes a tenth of the time."""


def may_bind(program: Program, module: ModuleInfo, name: str, asked: Set[Path] = frozenset()) -> bool:
    """Return whether a file may bind a name at its top level; the files `asked` are known not to."""
    units = module.index.statements
    if any(name in unit.binds or name in unit.facts.globals for unit in units):
        return True
    text = module.source.text
    stars = [one for unit in units for one in unit.imports if one.attribute == "*"]
    if text.count("import *") > len(stars) or _binds_unseen(text):
        return True
    asked = asked | {module.path}
    for one in stars:
        path = program.resolve(module, one.module, one.level)
        other = program.load(path) if path is not None else None
        if other is None or (other.path not in asked and may_bind(program, other, name, asked)):
            return True
    return False


def _binds_unseen(text: str) -> bool:
    """Return whether the text of a file holds what may give it names that it does not write out."""
    return any(word in text for word in _UNSEEN) and _BINDS_UNSEEN.search(text) is not None
