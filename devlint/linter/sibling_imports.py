"""Imports of a project that files were copied from: they still have its name, and lead to no library that is known."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding

_FEWEST_PARTS: Final = 3
"""The number of names at the end of a dotted name which are those of the copies in this project."""


class SiblingImports:
    """The answers to the question whether an import names a file of another project that this one has a copy of.

    The end of the dotted name is that of a file of this project, its beginning is none. Each file that imports
    something of that beginning does so, and no text of the project, such as a list of what to install, has the name.
    `is_known` tells whether a text has a word.
    """

    def __init__(self, program: Program, modules: Sequence[ModuleInfo], is_known: Callable[[str], bool]) -> None:
        self._program = program
        self._modules = modules
        self._is_known = is_known
        self._siblings: dict[str, bool] = {}

    def has(self, binding: Binding) -> bool:
        """Return whether an import names a file of such a project."""
        if binding.level or not self._is_copy(binding.loads or binding.module):
            return False
        name = binding.module.partition(".")[0]
        if name not in self._siblings:
            self._siblings[name] = self._is_sibling(name)
        return self._siblings[name]

    def _is_copy(self, dotted: str) -> bool:
        """Return whether a dotted name ends as the path of a file of this project, and begins with another name."""
        parts = tuple(dotted.split("."))
        return len(parts) > _FEWEST_PARTS and parts[-_FEWEST_PARTS:] in self._ends and parts[0] not in self._names

    def _is_sibling(self, name: str) -> bool:
        """Return whether a name is neither that of a library nor part of this project."""
        if name in sys.stdlib_module_names or self._is_known(name) or self._is_known(name.replace("_", "-")):
            return False
        return all(any(map(self._is_copy, imported[name])) for imported in self._imported if name in imported)

    @cached_property
    def _imported(self) -> Sequence[Mapping[str, Sequence[str]]]:
        """The dotted names that each file imports, by their first part."""
        found = []
        for module in self._modules:
            names: dict[str, list[str]] = defaultdict(list)
            for one in self._program.text_imports(module.path):
                if not one.level:
                    names[one.package].append(one.module)
            found.append(names)
        return found

    @cached_property
    def _ends(self) -> frozenset[tuple[str, ...]]:
        """The last parts of the paths of the files of this project."""
        return frozenset(_location(one)[-_FEWEST_PARTS:] for one in self._modules)

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of the files of this project, and of the folders that hold them."""
        return frozenset(part for one in self._modules for part in _location(one))


def _location(module: ModuleInfo) -> tuple[str, ...]:
    """Return the parts of the path of a file, or of the folder that is a package."""
    path: Path = module.path.parent if module.is_package else module.path.with_suffix("")
    return path.parts
