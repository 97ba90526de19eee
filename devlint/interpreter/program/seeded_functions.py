"""Functions before which the program always sets torch's seed: their callers do, beside the call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.named_places import paths_to_name
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.written_guards import is_any_called, is_called_beside

_SEED: Final = "manual_seed"
"""The last name of the functions that set a seed."""
_SEEDS: Final = ("torch.manual_seed", "torch.random.manual_seed")
"""The functions that seed every device."""


class SeededFunctions:
    """The functions of a program's files that set a seed, and are named only where torch's seed is set beside.

    Code names a function where it calls it, or passes it on to be called, as to `torch.multiprocessing.spawn`.
    """

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._names: dict[Path, frozenset[str]] = {}

    def names_in(self, module: ModuleInfo) -> frozenset[str]:
        """Return the names of such functions at the top level of a file."""
        found = self._names.get(module.path)
        if found is None:
            setting = (unit for unit in module.index.statements if unit.kind == "function" and _SEED in unit.mentions)
            names = [unit.name for unit in setting if unit.name is not None]
            found = self._names[module.path] = frozenset(one for one in names if self._is_seeded(module, one))
        return found

    def _is_seeded(self, module: ModuleInfo, function: str) -> bool:
        """Return whether torch's seed is set wherever the file of a function, or one that imports it, names it."""
        importers = (self._program.load(path) for path in self._imports.importers_of(module.path))
        beside = [
            is_called_beside(path, _SEEDS) or _is_seeded_at_top(one, path)
            for one in (module, *importers)
            if one is not None
            for path in paths_to_name(one, function)
        ]
        return bool(beside) and all(beside)


def _is_seeded_at_top(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in no function or class, and the code at the top of its file sets torch's seed."""
    if any(isinstance(one, (cst.FunctionDef, cst.ClassDef)) for one in path):
        return False
    return is_any_called(_SEEDS, module.index.statements)
