"""Functions before which the program always sets torch's seed: their callers do, beside the call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.functions_by_uses import FunctionsByUses
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.written_guards import is_any_called, is_called_beside

_SEED: Final = "manual_seed"
"""The last name of the functions that set a seed."""
_SEEDS: Final = ("torch.manual_seed", "torch.random.manual_seed")
"""The functions that seed every device."""


class SeededFunctions(FunctionsByUses):
    """The functions of a program's files that set a seed, and are named only where torch's seed is set beside."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        super().__init__(program, imports, _SEED, _is_seeded)


def _is_seeded(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether torch's seed is set beside a node, or at the top of its file."""
    return is_called_beside(path, _SEEDS) or _is_seeded_at_top(module, path)


def _is_seeded_at_top(module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether a node is in no function or class, and the code at the top of its file sets torch's seed."""
    if any(isinstance(one, (cst.FunctionDef, cst.ClassDef)) for one in path):
        return False
    return is_any_called(_SEEDS, module.index.statements)
