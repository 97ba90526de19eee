"""Functions of a program's files of which every use has a property: where each call stands says something of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.named_places import paths_to_name
from devlint.interpreter.program.program import Program


class FunctionsByUses:
    """The functions that mention a word, and are named only in places that have a property.

    `holds` tells whether a place has it, by its file and the nodes from the top-level statement down to the name. Code
    names a function where it calls it, or passes it on to be called, as to `torch.multiprocessing.spawn`.
    """

    def __init__(
        self,
        program: Program,
        imports: ImportGraph,
        word: str,
        holds: Callable[[ModuleInfo, Sequence[cst.CSTNode]], bool],
    ) -> None:
        self._program = program
        self._imports = imports
        self._word = word
        self._holds = holds
        self._names: dict[Path, frozenset[str]] = {}

    def names_in(self, module: ModuleInfo) -> frozenset[str]:
        """Return the names of such functions at the top level of a file."""
        found = self._names.get(module.path)
        if found is None:
            units = (one for one in module.index.statements if one.kind == "function" and self._word in one.mentions)
            names = [unit.name for unit in units if unit.name is not None]
            found = self._names[module.path] = frozenset(one for one in names if self._is_one(module, one))
        return found

    def _is_one(self, module: ModuleInfo, function: str) -> bool:
        """Return whether a function is named, and only in such places, by its file and those that import it."""
        importers = (self._program.load(path) for path in self._imports.importers_of(module.path) - {module.path})
        held = [
            self._holds(one, path)
            for one in (module, *importers)
            if one is not None
            for path in paths_to_name(one, function)
        ]
        return bool(held) and all(held)
