"""Code that is for CUDA by design: it builds or imports CUDA kernels, captures CUDA graphs, or times CUDA kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.semantics.accelerators import is_cuda_package
from devlint.syntax.index import Binding, Statement
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import descend, dotted_name

_BUILT: Final = frozenset({"CUDAExtension", "cuda_sources"})
"""Names by which code builds CUDA kernels with torch."""
_CAPTURED: Final = frozenset({"CUDAGraph", "make_graphed_callables", "graph_pool_handle"})
"""Names by which code captures CUDA graphs."""
_RUNTIME: Final = frozenset({"cudart", "CUDAPluggableAllocator", "caching_allocator_alloc", "jiterator"})
"""Names by which code calls the CUDA runtime or its allocator itself."""
_PROFILED: Final = frozenset({"cuda_time", "cuda_time_total", "self_cuda_time_total", "cuda_memory_usage"})
"""Names of what the profiler of torch measures of CUDA kernels."""
_HANDED: Final = frozenset({"cuda_stream", "execute_async_v2", "execute_async_v3", "set_tensor_address"})
"""Names by which code hands a CUDA stream itself, or tensors' addresses, to other code for CUDA such as TensorRT."""
_FOR_CUDA: Final = _BUILT | _CAPTURED | _RUNTIME | _PROFILED | _HANDED
"""The names in a function by which it is for CUDA."""
_KERNEL_FILE: Final = re.compile(r"""\.cu["']""")
"""The end of a string with the name of a file of CUDA source code."""
_KERNEL_MODULE: Final = re.compile(r"(?:^|\.)(?:amp_C|\w+_cuda)$")
"""The name of a compiled module of CUDA kernels."""
_CONDITIONAL: Final = re.compile(r"(?:if|try|for|while|with)\b")
"""The start of a statement that does not always run what it holds."""
_TRIES: Final = re.compile(r"try\b")
"""The start of a statement that tries what it holds."""
_INNER_IMPORT: Final = re.compile(r"^[ \t]+(?:import|from)[ \t]+([\w.][\w., \t]*)", re.MULTILINE)
"""An import in an indented line, and the modules that it names."""
_EXTENSION: Final = re.compile(r"""\b(CUDAExtension|CppExtension)\(\s*(?:name\s*=\s*)?["']([\w.]+)["']""")
"""The call by which the script that builds a package describes a compiled module of the package."""


class CudaKernels:
    """The files of a program that always build or import CUDA kernels, and so do not run without CUDA."""

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._needed: dict[Path, bool] = {}

    def needed_around(self, module: ModuleInfo) -> bool:
        """Return whether a file always builds or imports CUDA kernels, or there are files that import it and all do."""
        if self.needed_by(module):
            return True
        paths = self._imports.importers_of(module.path) - {module.path}
        importers = [self._program.load(path) for path in paths]
        return bool(importers) and all(one is not None and self.needed_by(one) for one in importers)

    def needed_by(self, module: ModuleInfo) -> bool:
        """Return whether a file, or one that it always imports, always builds or imports CUDA kernels."""
        if module.path in self._needed:
            return self._needed[module.path]
        pending = [module]
        importers: dict[Path, Path | None] = {module.path: None}
        while pending:
            one = pending.pop()
            known = self._needed.get(one.path)
            if known or (known is None and self._takes_kernels(one)):
                above: Path | None = one.path
                while above is not None:
                    self._needed[above] = True
                    above = importers[above]
                return True
            for path in self._always_imported(one) if known is None else ():
                imported = self._program.load(path) if path not in importers else None
                importers.setdefault(path, one.path)
                if imported is not None:
                    pending.append(imported)
        self._needed.update(dict.fromkeys(importers, False))
        return False

    def _takes_kernels(self, module: ModuleInfo) -> bool:
        """Return whether a file is of a package for CUDA, or builds or imports CUDA kernels whenever it runs."""
        units = module.index.statements
        return (
            is_cuda_package(module.name)
            or any(self._takes_in(module, unit) for unit in units)
            or _needs_what_it_builds(units)
        )

    def _takes_in(self, module: ModuleInfo, unit: Statement) -> bool:
        """Return whether a top-level statement builds or imports CUDA kernels whenever the file runs."""
        if unit.kind not in ("import", "other"):
            return False
        if _CONDITIONAL.match(unit.text) and not _is_required(unit):
            return False
        return any(self.is_kernel_module(module, one) for one in unit.imports) or builds_kernels(unit)

    def is_kernel_module(self, module: ModuleInfo, one: Binding) -> bool:
        """Return whether an import loads a compiled module of CUDA kernels, or a package for no other accelerator."""
        dotted = one.loads or one.module
        if _KERNEL_MODULE.search(dotted) or (not one.level and is_cuda_package(dotted)):
            return True
        names = [dotted] if one.attribute in (None, "*") else [dotted, f"{dotted}.{one.attribute}"]
        for name in names:
            last = name.rpartition(".")[2]
            beside = not one.module and _KERNEL_MODULE.search(last) is not None
            if (beside or last in self._built) and self._program.resolve(module, name.strip("."), one.level) is None:
                return True
        return False

    def _always_imported(self, module: ModuleInfo) -> Iterator[Path]:
        """Yield the files of the program that a file imports by statements of its top level, under no condition."""
        for unit in module.index.statements:
            for one in unit.imports if unit.kind == "import" or _is_required(unit) else ():
                dotted = one.loads or one.module
                for name in (dotted, f"{dotted}.{one.attribute}") if one.attribute else (dotted,):
                    path = self._program.resolve(module, name.strip("."), one.level)
                    if path is not None:
                        yield path

    @cached_property
    def built_for_host(self) -> frozenset[str]:
        """The last names of the modules that the program's setup scripts build without CUDA."""
        return self._extensions["CppExtension"]

    @cached_property
    def _built(self) -> frozenset[str]:
        """The last names of the modules that the program's setup scripts build with CUDA, and never without."""
        return self._extensions["CUDAExtension"] - self.built_for_host

    @cached_property
    def _extensions(self) -> Mapping[str, frozenset[str]]:
        """The last names of the modules that the program's setup scripts build, by the function that describes them."""
        found: dict[str, set[str]] = {"CUDAExtension": set(), "CppExtension": set()}
        for path in self._program.given_paths:
            script = self._program.load(path) if path.name.startswith("setup") else None
            for kind, name in _EXTENSION.findall(script.source.text) if script is not None else ():
                found[kind].add(name.rpartition(".")[2])
        return {kind: frozenset(names) for kind, names in found.items()}


def builds_kernels(unit: Statement) -> bool:
    """Return whether a statement builds CUDA kernels: it names a file of CUDA source code, or passes such code."""
    return not _BUILT.isdisjoint(unit.mentions) or _KERNEL_FILE.search(unit.text) is not None


def _needs_what_it_builds(units: Sequence[Statement]) -> bool:
    """Return whether a file needs a module of CUDA kernels that it builds where it cannot import it.

    It is bound by the import that is tried and by what builds it, and code outside of conditions reads it.
    """
    builders = (one for one in units if one.kind == "other" and _CONDITIONAL.match(one.text) and builds_kernels(one))
    built = {name for one in builders for name in one.binds}
    readers = (one for one in units if one.kind == "other" and not _CONDITIONAL.match(one.text))
    needed = built & {name for one in readers for name in one.mentions - one.binds}
    return any(
        binding.name in needed and not _is_bound_in_handler(unit, binding.name)
        for unit in units
        if needed and _TRIES.match(unit.text)
        for binding in unit.imports
    )


def _is_bound_in_handler(unit: Statement, name: str) -> bool:
    """Return whether a statement that tries something gives a name a meaning where that fails."""
    tree = unit.tree_or_none
    return isinstance(tree, cst.Try) and any(name in words_in(one.body) for one in tree.handlers)


def _is_required(unit: Statement) -> bool:
    """Return whether a statement tries to import something, and raises an error if that is missing."""
    if not unit.imports or not _TRIES.match(unit.text):
        return False
    tree = unit.tree_or_none
    return isinstance(tree, cst.Try) and all(_raises(one.body) for one in tree.handlers)


def _raises(body: cst.BaseSuite) -> bool:
    """Return whether a block ends by raising an error."""
    last = body.body[-1] if body.body else None
    return isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)


def is_with_cuda_kernels(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether the innermost function around a node builds, captures or times CUDA kernels, or calls the runtime.

    `path` are the nodes from the top-level statement down to the node.
    """
    function = next((one for one in reversed(path) if isinstance(one, cst.FunctionDef)), None)
    if function is None:
        return False
    if any(one.strip("\"'") in _FOR_CUDA or _KERNEL_FILE.search(one) for one in words_in(function)):
        return True
    return any(is_cuda_package(name) for one in descend(function) for name in _modules_imported(one))


def imports_kernels(unit: Statement) -> bool:
    """Return whether a statement defines a function that imports a package for CUDA only, under no condition in it."""
    if unit.kind != "function" or not any(is_cuda_package(name) for name in _written_imports(unit.text)):
        return False
    function = unit.tree_or_none
    return isinstance(function, cst.FunctionDef) and always_imports_kernels(function)


def always_imports_kernels(function: cst.FunctionDef) -> bool:
    """Return whether a function imports a package for CUDA only, under no condition in it."""
    lines = (one for line in function.body.body if isinstance(line, cst.SimpleStatementLine) for one in line.body)
    return any(is_cuda_package(name) for one in lines for name in _modules_imported(one))


def _written_imports(text: str) -> Iterator[str]:
    """Yield the dotted names of the modules that the indented lines of a text import."""
    for match in _INNER_IMPORT.finditer(text):
        yield from (one.split()[0] for one in match[1].split(",") if one.strip())


def _modules_imported(node: cst.CSTNode) -> list[str]:
    """Return the dotted names of the modules that an import statement names; none for another node."""
    match node:
        case cst.Import(names=names):
            return [dotted_name(one.name) or "" for one in names]
        case cst.ImportFrom(module=cst.Name() | cst.Attribute() as module, relative=[]):
            return [dotted_name(module) or ""]
    return []
