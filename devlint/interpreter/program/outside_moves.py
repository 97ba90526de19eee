"""Attributes that a program moves from outside of their class, as in `net.anchors = net.anchors.to(device)`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program

_ASSIGNED: Final = re.compile(
    r"(?P<owner>\b[\w.\[\]()]*\w[\])]*)\.(?P<name>\w+)(?P<item>(?:\[[^\]\n]*\])*)[ \t]*=(?!=)(?P<value>[^\n]*)"
)
"""An assignment to an attribute, or to an item of it, on one line."""
_PLACED: Final = re.compile(r"\.(?:to|cuda|cpu|xpu)\(|\bdevice\b")
"""A value that is moved, or made on a device that the code names."""


class OutsideMoves:
    """The attributes to which the program assigns a placed value, or an item, through another name than `self`."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._by_file: dict[Path, frozenset[tuple[str, bool]]] | None = None

    def may_replace(self, attribute: str, module: ModuleInfo, *, inside: bool) -> bool:
        """Return whether code outside of a class may replace an attribute's value, or an item of it (`inside`).

        The class is defined in the file `module`. Such code stands in that file, or in a file that imports it.
        """
        if self._by_file is None:
            self._by_file = {path: found for path in self._program.paths_of_interest if (found := self._find(path))}
        wanted = {(attribute, False), (attribute, inside)}
        files = [path for path, found in self._by_file.items() if not wanted.isdisjoint(found)]
        return bool(files) and (module.path in files or not self._imports.importers_of(module.path).isdisjoint(files))

    def _find(self, path: Path) -> frozenset[tuple[str, bool]]:
        """Return the names of the attributes to which a file assigns, each with whether only an item is assigned.

        An item may replace a tensor in a container whatever it is; in a tensor it only does so if it is placed anew.
        """
        module = self._program.load(path)
        texts = [statement.text for statement in module.index.statements] if module is not None else []
        assigned = [match for text in texts for match in _ASSIGNED.finditer(text) if match["owner"] != "self"]
        placed = {(one["name"], False) for one in assigned if _PLACED.search(one["value"])}
        return frozenset(placed | {(one["name"], True) for one in assigned if one["item"]})
