"""Files whose import fails: they import a module that torch has removed, directly or through other files."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding

_REMOVED: Final = frozenset({"torch.legacy", "torch.utils.ffi", "torch.utils.serialization"})
"""The modules that torch 1.0 or an earlier version has removed, by its release notes."""

_MENTIONS: Final = re.compile(r"\b(?:legacy|ffi|serialization)\b")
"""Texts of which some import a removed module."""


class RemovedModules:
    """The imports of removed modules in the files of a program."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._failing: dict[Path, bool] = {}

    def stop(self, module: ModuleInfo) -> bool:
        """Return whether the import of a file fails, because of an import at its top level outside of `try`."""
        return bool(self._mentioning) and self._fails(module)

    @cached_property
    def _mentioning(self) -> tuple[Path, ...]:
        """The files that may import a removed module."""
        return self._imports.files_whose_text(_MENTIONS.search)

    def _fails(self, module: ModuleInfo) -> bool:
        """Return whether the import of a file fails; a file in a circle of imports fails by what the others import."""
        if module.path not in self._failing:
            self._failing[module.path] = False
            self._failing[module.path] = any(
                self._binds_removed(module, one)
                for unit in module.index.statements
                if unit.kind == "import"
                for one in unit.imports
            )
        return self._failing[module.path]

    def _binds_removed(self, module: ModuleInfo, binding: Binding) -> bool:
        """Return whether an import names a removed module, or a file whose import fails."""
        names = {binding.module, binding.loads, f"{binding.module}.{binding.attribute}"}
        if binding.level == 0 and any(one == name or one.startswith(f"{name}.") for one in names for name in _REMOVED):
            return True
        loaded = [self._program.load(path) for path in self._imports.named_by(module, binding)]
        return any(one is not None and self._fails(one) for one in loaded)
