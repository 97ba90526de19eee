"""Attributes that a program moves from outside of their class, as in `net.anchors = net.anchors.to(device)`."""

from __future__ import annotations

from pathlib import Path

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program


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
            modules = {path: self._program.load(path) for path in self._program.paths_of_interest}
            self._by_file = {
                path: one.outside_moves for path, one in modules.items() if one is not None and one.outside_moves
            }
        wanted = {(attribute, False), (attribute, inside)}
        files = [path for path, found in self._by_file.items() if not wanted.isdisjoint(found)]
        return bool(files) and (module.path in files or not self._imports.importers_of(module.path).isdisjoint(files))
