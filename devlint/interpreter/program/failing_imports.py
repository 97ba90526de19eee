"""Files whose import fails: they import what a library has removed, or a name that another file does not have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from devlint.interpreter.program.bound_names import may_bind
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.foreign_imports import ForeignImports
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.semantics.removed_names import REMOVED_NAMES
from devlint.syntax.index import Binding

_REMOVED: Final = REMOVED_NAMES | {"torch.legacy", "torch.utils.ffi", "torch.utils.serialization"}
"""What no library has any more; the modules of torch since its version 1.0 or an earlier one, by its release notes."""

_BUILDS: Final = re.compile(r"Extension\b|ext_modules|cythonize|\.pyx\b")
"""What a script says that builds compiled modules."""


class FailingImports:
    """The imports that fail in the files of a program, at top level and outside of `try`.

    With `names`, an import of a name that its file lacks fails too, and in an installed package one of what only the
    project has that its files were copied from. So do imports of several files beside their own that do not exist. To
    ask that takes an index of every file. `is_absent` tells of further imports that they fail.
    """

    def __init__(
        self,
        program: Program,
        imports: ImportGraph,
        *,
        names: bool = False,
        is_absent: Callable[[Binding], bool] | None = None,
    ) -> None:
        self._program = program
        self._imports = imports
        self._names = names
        self._is_absent = is_absent
        self._foreign = ForeignImports(program)
        self._failing: dict[Path, bool] = {}

    def stop(self, module: ModuleInfo) -> bool:
        """Return whether the import of a file fails, because of an import at its top level outside of `try`."""
        if not (self._names or self._may_import_removed):
            return False
        if module.path not in self._failing:
            self._failing[module.path] = False  # In a circle of imports, a file fails by what the others import.
            imports = [one for unit in module.index.statements if unit.kind == "import" for one in unit.imports]
            self._failing[module.path] = any(self._fails(module, one) for one in imports) or (
                self._names and self._is_left_alone(module, imports)
            )
        return self._failing[module.path]

    def _is_left_alone(self, module: ModuleInfo, imports: Sequence[Binding]) -> bool:
        """Return whether a file of a package was copied without the files beside it: it imports several that are none.

        A single one may be made when the package is built, and so may compiled modules.
        """
        beside = {one.module for one in imports if one.level == 1 and one.module.isidentifier()}
        missing = [
            one
            for one in beside - self._program.module_names_in(module.path.parent)
            if not one.startswith("_") and self._program.resolve(module, one, 1) is None
        ]
        return len(missing) > 1 and not self._builds_modules

    @cached_property
    def _given(self) -> frozenset[Path]:
        """The files to analyse: of others, nothing is asked that their imports do not need."""
        return frozenset(self._program.given_paths)

    @cached_property
    def _files_of_name(self) -> Counter[str]:
        """The number of the files to analyse that have each name."""
        return Counter(path.stem for path in self._given)

    @cached_property
    def _may_import_removed(self) -> bool:
        """Whether any file imports what is removed, by its text."""
        return bool(self._imports.files_of_which(self._imports_removed))

    def _imports_removed(self, path: Path) -> bool:
        """Return whether a file may import what is removed, by its text."""
        return any(one.level == 0 and _is_removed(one.dotted) for one in self._program.text_imports(path))

    def _fails(self, module: ModuleInfo, binding: Binding) -> bool:
        """Return whether an import names what does not exist, or a file whose import fails."""
        names = {binding.module, binding.loads, f"{binding.module}.{binding.attribute}"}
        if binding.level == 0 and any(_is_removed(one) for one in names if one is not None):
            return True
        if self._names and self._foreign.has(module, binding):
            return True
        if self._is_absent is not None and self._is_absent(binding):
            return True
        loaded = [self._program.load(path) for path in self._imports.named_by(module, binding)]
        if any(one is not None and self._is_asked(one) and self.stop(one) for one in loaded):
            return True
        if not self._names or len(loaded) != 1 or loaded[0] is None:
            return False
        # In a folder without an `__init__.py`, what is taken from the package is the file itself.
        home = self._program.resolve(module, binding.module.strip("."), binding.level)
        return loaded[0].path == home and self._lacks(loaded[0], binding)

    def _is_asked(self, module: ModuleInfo) -> bool:
        """Return whether the imports of an imported file matter: it is to be analysed, or removed names are about."""
        return self._may_import_removed or module.path in self._given

    def _lacks(self, module: ModuleInfo, binding: Binding) -> bool:
        """Return whether a file that is to be analysed surely binds no name that an import takes from it.

        A module of one word, such as `utils`, may be another file of that name, by the folder that a program runs in.
        """
        name = binding.attribute
        if name is None or name == "*" or name.startswith("__") or module.path not in self._given:
            return False
        if binding.level == 0 and "." not in binding.module and self._files_of_name[module.path.stem] > 1:
            return False
        if module.is_package and self._may_be_module(module, name):
            return False
        return not may_bind(self._program, module, name)

    def _may_be_module(self, package: ModuleInfo, name: str) -> bool:
        """Return whether a name may be that of a module in a package, which may be compiled, or is yet to be built."""
        if name.startswith("_") or name in self._program.module_names_in(package.path.parent):
            return True
        return self._program.resolve(package, name, 1) is not None or self._builds_modules

    @cached_property
    def _builds_modules(self) -> bool:
        """Whether a script of the program builds compiled modules."""
        scripts = (self._program.load(path) for path in self._given if path.name.startswith("setup"))
        return any(one is not None and _BUILDS.search(one.source.text) for one in scripts)


@cache
def _is_removed(name: str) -> bool:
    """Return whether a library no longer has a dotted name, or the module around it."""
    parts = name.split(".")
    return any(".".join(parts[:end]) in _REMOVED for end in range(1, len(parts) + 1))
