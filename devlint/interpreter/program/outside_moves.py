"""Attributes that a program moves from outside of their class, as in `net.anchors = net.anchors.to(device)`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program

_ASSIGNED_MOVE: Final = re.compile(
    r"(?P<owner>\b[\w.\[\]()]*\w[\])]*)\.(?P<name>\w+)(?:\[[^\]\n]*\])*[ \t]*=(?!=)[^\n]*\.(?:to|cuda|cpu|xpu)\("
)
"""An assignment to an attribute, or to an item of it, with a transfer on the right-hand side, on one line."""


class OutsideMoves:
    """The attributes to which the program assigns a moved value through another name than `self`, by file."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._by_file: dict[Path, frozenset[str]] | None = None

    def may_move(self, attribute: str, module: ModuleInfo) -> bool:
        """Return whether code outside of a class may move an attribute that the class, defined in a file, stores.

        Such code stands in the file itself, or in a file that imports it.
        """
        if self._by_file is None:
            self._by_file = {path: names for path in self._program.given_paths if (names := self._names_in(path))}
        files = [path for path, names in self._by_file.items() if attribute in names]
        return bool(files) and (module.path in files or not self._imports.importers_of(module.path).isdisjoint(files))

    def _names_in(self, path: Path) -> frozenset[str]:
        """Return the names of the attributes to which the code of a file assigns a moved value."""
        module = self._program.load(path)
        texts = [statement.text for statement in module.index.statements] if module is not None else []
        found = (match for text in texts for match in _ASSIGNED_MOVE.finditer(text))
        return frozenset(match["name"] for match in found if match["owner"] != "self")
