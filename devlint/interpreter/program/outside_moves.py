"""Attributes that a program moves from outside of their class, as in `net.anchors = net.anchors.to(device)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from devlint.interpreter.program.program import Program

_ASSIGNED_MOVE: Final = re.compile(
    r"(?P<owner>\b[\w.\[\]()]*\w[\])]*)\.(?P<name>\w+)(?:\[[^\]\n]*\])*[ \t]*=(?!=)[^\n]*\.(?:to|cuda|cpu|xpu)\("
)
"""An assignment to an attribute, or to an item of it, with a transfer on the right-hand side, on one line."""


class OutsideMoves:
    """The names of attributes to which some file assigns a moved value through another name than `self`."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._names: frozenset[str] | None = None

    def __contains__(self, attribute: str) -> bool:
        if self._names is None:
            self._names = frozenset(self._find())
        return attribute in self._names

    def _find(self) -> Iterator[str]:
        """Yield the attribute names, from the texts of all files to analyse."""
        for path in self._program.given_paths:
            module = self._program.load(path)
            for statement in module.index.statements if module is not None else ():
                for match in _ASSIGNED_MOVE.finditer(statement.text):
                    if match["owner"] != "self":
                        yield match["name"]
