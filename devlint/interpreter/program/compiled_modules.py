"""Compiled modules of a program, which may be for CUDA: nothing in the program says for what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.bound_names import may_bind
from devlint.interpreter.program.cuda_kernels import CudaKernels
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding, Statement
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import descend, dotted_name

_LOADS: Final = "import_module"
"""The name of the function of `importlib` that loads a module by its name."""
_COMPILED_NAME: Final = re.compile(r"(?:\w+\.)*_\w+")
"""The name of a module that is private to its package, as that of a compiled one."""


class CompiledModules:
    """The names in the files of a program that stand for compiled modules of its packages."""

    def __init__(self, program: Program, kernels: CudaKernels) -> None:
        self._program = program
        self._kernels = kernels
        self._names: dict[Path, frozenset[str]] = {}

    def names_in(self, module: ModuleInfo) -> frozenset[str]:
        """Return the names that a file gives to compiled modules by its imports, and by calls that load them."""
        found = self._names.get(module.path)
        if found is None:
            found = self._names[module.path] = frozenset(self._find(module))
        return found

    def _find(self, module: ModuleInfo) -> Iterator[str]:
        """Yield the names that a file gives to compiled modules."""
        for unit in module.index.statements:
            yield from (one.name for one in unit.imports if self._is_compiled(module, one))
            if unit.kind == "other":
                yield from self._loaded(module, unit)

    def _is_compiled(self, module: ModuleInfo, one: Binding) -> bool:
        """Return whether an import binds a module of a package of the program that is none of its files."""
        if self._kernels.is_kernel_module(module, one):
            return False
        path = self._program.resolve(module, one.module, one.level)
        above = self._program.load(path) if path is not None else None
        if above is None or not above.is_package or one.attribute is None:
            return False
        if one.attribute in ("*", *self._kernels.built_for_host):
            return False
        dotted = f"{one.module}.{one.attribute}".strip(".")
        return not may_bind(self._program, above, one.attribute) and (
            self._program.resolve(module, dotted, one.level) is None
        )

    def _loaded(self, module: ModuleInfo, unit: Statement) -> Iterator[str]:
        """Yield the name that a statement gives to the private module that a call loads, by the module's name."""
        match unit.tree_or_none if "_" in unit.text else None:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[cst.AssignTarget(target=cst.Name(value=name))],
                        value=cst.Call(func=function, args=[cst.Arg(value=cst.SimpleString() as text), *_]),
                    )
                ]
            ):
                if _COMPILED_NAME.fullmatch(text.raw_value) and self._loads_modules(module, function):
                    yield name

    def _loads_modules(self, module: ModuleInfo, function: cst.BaseExpression) -> bool:
        """Return whether an expression names the function that loads modules, or one of the program that calls it."""
        root, _, rest = (dotted_name(function) or "").partition(".")
        name = rest.rpartition(".")[2] or root
        if name == _LOADS:
            return True
        bindings = (one for unit in module.index.statements for one in unit.imports if one.name == root)
        files = [module] if not rest else []
        for one in bindings:
            dotted = [one.module] if one.attribute is None else [one.module, f"{one.module}.{one.attribute}".strip(".")]
            paths = (self._program.resolve(module, each, one.level) for each in dotted)
            files += [home for path in paths if path is not None and (home := self._program.load(path)) is not None]
        return any(_defines_loader(one, name) for one in files)


def _defines_loader(module: ModuleInfo, name: str) -> bool:
    """Return whether a file defines a function of a name that loads a module by a name."""
    trees = (one.tree_or_none for one in module.index.statements if name in one.binds and _LOADS in one.text)
    return any(
        isinstance(one, cst.FunctionDef) and one.name.value == name and _LOADS in words_in(one)
        for tree in trees
        if tree is not None
        for one in (tree, *descend(tree))
    )
