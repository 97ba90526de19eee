"""Figures about CUDA that an object keeps, though nothing in the project reads them: nobody misses them elsewhere."""

from __future__ import annotations

import re
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.computed_names import computes_names
from devlint.linter.uncalled import UncalledDefinitions
from devlint.semantics.accelerators import is_figure_without_cuda

_KEPT: Final = re.compile(r"\s*self\.(\w+)(?:\s*:[^=]+)?\s*=\s*([\w.]+)\(\)\s*(?:#.*)?")
"""A line that keeps what a function without arguments returns, with the attribute and the function."""


class UnreadFigures:
    """The answers to the question whether a row keeps a figure in an attribute that nothing in the project reads."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._program = program
        self._uncalled = uncalled

    def is_kept_at(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row only keeps a figure, which is an empty one without CUDA, and nothing reads it."""
        unit = module.index.statement_at(row)
        lines = unit.text.splitlines() if unit is not None else []
        kept = _KEPT.fullmatch(lines[row - unit.first_row]) if unit is not None and lines else None
        if kept is None:
            return False
        attribute, function = kept.groups()
        is_figure = is_figure_without_cuda(f"torch.cuda.{function.rpartition('.')[2]}")
        return is_figure and not self._is_read(module, attribute)

    def _is_read(self, home: ModuleInfo, attribute: str) -> bool:
        """Return whether code or a text of the project may read an attribute, by its name or a computed one."""
        if computes_names(self._program, home, of_methods=True, within=True):
            return True
        read = re.compile(rf"\.{attribute}\b(?!\s*(?::[^=\n]+)?=(?!=))|[\"']{attribute}[\"']")
        if any(attribute in one.source.text and read.search(one.source.text) for one in self._uncalled.modules):
            return True
        return self._uncalled.is_named_elsewhere(attribute, is_method=True)
