"""Classes whose constructors refuse to run without CUDA, so that their methods run only where there is CUDA.

They raise an error, or import a package for CUDA only.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.cuda_conditions import raises
from devlint.interpreter.program.cuda_kernels import always_imports_kernels
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.syntax.source_code import words_in
from devlint.syntax.statement import Statement

_MOST_BASES: Final = 6
"""How many classes are followed from a class to a base whose constructor refuses."""


class RefusingClasses:
    """The classes of a program's files of which no object is made without CUDA, by their constructor or a base's."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._names: dict[Path, frozenset[str]] = {}

    def names_in(self, module: ModuleInfo) -> frozenset[str]:
        """Return the names of such classes at the top level of a file."""
        found = self._names.get(module.path)
        if found is None:
            classes = [one for one in module.index.statements if one.kind == "class" and "cuda" in one.mentions]
            names = [one.name for one in classes if one.name is not None and self._refuses(module, one, _MOST_BASES)]
            found = self._names[module.path] = frozenset(names)
        return found

    def _refuses(self, module: ModuleInfo, unit: Statement, most: int) -> bool:
        """Return whether the constructor of a class, or the one of a base that it runs, refuses to run without CUDA."""
        own = _constructor(unit)
        if own is not None and (any(map(raises, own.body.body)) or always_imports_kernels(own)):
            return True
        if most == 0 or (own is not None and "super" not in words_in(own)):
            return False
        bases = (one for base in unit.bases for one in self._classes(module, base, most))
        return any(self._refuses(where, base, most - 1) for where, base in bases if base is not unit)

    def _classes(self, module: ModuleInfo, name: str, most: int) -> Iterator[tuple[ModuleInfo, Statement]]:
        """Yield the class of a program that a dotted name means in a file, with the file that defines it."""
        first, _, rest = name.partition(".")
        for unit in module.index.statements:
            if unit.kind == "class" and unit.name == name:
                yield module, unit
            for binding in unit.imports if most else ():
                wanted = rest.rpartition(".")[2] or binding.attribute
                if binding.name == first and wanted is not None:
                    files = map(self._program.load, self._imports.named_by(module, binding))
                    for found in files:
                        if found is not None:
                            yield from self._classes(found, wanted, most - 1)


def _constructor(unit: Statement) -> cst.FunctionDef | None:
    """Return the function of a class that makes its objects; None where it defines none."""
    tree = unit.tree_or_none
    body = tree.body.body if isinstance(tree, cst.ClassDef) else ()
    return next((one for one in body if isinstance(one, cst.FunctionDef) and one.name.value == "__init__"), None)
