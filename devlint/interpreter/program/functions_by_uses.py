"""Functions and classes of a program's files of which every use has a property, by the place where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.named_places import paths_to_name
from devlint.interpreter.program.program import Program

_KINDS: Final = ("function", "class")
"""The kinds of the top-level statements that define what code names."""
_MOST_CALLERS: Final = 3
"""How many functions that call each other are followed from a function to a place that has the property."""


class FunctionsByUses:
    """The functions and classes that mention a word, and are named only in places that have a property.

    `holds` tells whether a place has it, by its file and the nodes from the top-level statement down to the name. Code
    names a function where it calls it, or passes it on to be called, as to `torch.multiprocessing.spawn`. A place in a
    function that is named only in such places has the property too.
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
        """Return the names of such functions and classes at the top level of a file."""
        found = self._names.get(module.path)
        if found is None:
            units = [one for one in module.index.statements if one.kind in _KINDS and self._word in one.mentions]
            names = [unit.name for unit in units if unit.name is not None]
            found = self._names[module.path] = frozenset(one for one in names if self._is_one(module, one, ()))
        return found

    def _is_one(self, module: ModuleInfo, name: str, called: tuple[str, ...]) -> bool:
        """Return whether a function or class is named, and only in such places, by its file and those that import it.

        `called` are the names of the functions from which the question came, and which it calls.
        """
        importers = (self._program.load(path) for path in self._imports.users_at_most(module.path) - {module.path})
        is_named = False
        for one in (module, *importers):
            for path in paths_to_name(one, name) if one is not None else ():
                assert one is not None
                if not path or not (self._holds(one, path) or self._is_in_one(one, path, (*called, name))):
                    return False
                is_named = True
        return is_named

    def _is_in_one(self, module: ModuleInfo, path: Sequence[cst.CSTNode], called: tuple[str, ...]) -> bool:
        """Return whether a place is in a function or class that is named only in such places itself."""
        outer = next((one for one in path if isinstance(one, (cst.FunctionDef, cst.ClassDef))), None)
        if outer is None or outer.name.value in called or len(called) > _MOST_CALLERS:
            return False
        return self._is_one(module, outer.name.value, called)
