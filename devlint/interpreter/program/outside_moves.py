"""Attributes that a program moves from outside of their class, as in `net.anchors = net.anchors.to(device)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from devlint.interpreter.program.program import Program

_ASSIGNED: Final = re.compile(
    r"(?P<owner>\b[\w.\[\]()]*\w[\])]*)\.(?P<name>\w+)(?P<item>(?:\[[^\]\n]*\])*)[ \t]*=(?!=)(?P<value>[^\n]*)"
)
"""An assignment to an attribute, or to an item of it, on one line."""
_PLACED: Final = re.compile(r"\.(?:to|cuda|cpu|xpu)\(|\bdevice\b")
"""A value that is moved, or made on a device that the code names."""


class OutsideMoves:
    """The attributes to which some file assigns a placed value, or an item, through another name than `self`."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._found: frozenset[tuple[str, bool]] | None = None

    def may_replace(self, attribute: str, *, inside: bool) -> bool:
        """Return whether code outside of the class may replace an attribute's value, or an item of it (`inside`)."""
        if self._found is None:
            self._found = frozenset(self._find())
        return (attribute, False) in self._found or (inside and (attribute, True) in self._found)

    def _find(self) -> Iterator[tuple[str, bool]]:
        """Yield attribute names, from the texts of all files to analyse, each with whether only an item is assigned.

        An item may replace a tensor in a container whatever it is; in a tensor it only does so if it is placed anew.
        """
        for path in self._program.given_paths:
            module = self._program.load(path)
            for statement in module.index.statements if module is not None else ():
                for match in _ASSIGNED.finditer(statement.text):
                    if match["owner"] == "self":
                        continue
                    if _PLACED.search(match["value"]) is not None:
                        yield match["name"], False
                    elif match["item"]:
                        yield match["name"], True
