"""Wrappers of compiled kernels: classes that give a kernel its gradient, and functions that always call one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

import libcst as cst

from devlint.interpreter.program.compiled_modules import CompiledModules
from devlint.interpreter.program.cuda_kernels import CudaKernels, builds_kernels, imports_kernels
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding, Statement
from devlint.syntax.source_code import words_in
from devlint.syntax.tree_walk import descend, dotted_name

_GRADIENT: Final = "Function"
"""The last name of torch's class for operations with a gradient of their own."""
_COMPOUND: Final = (cst.If, cst.Try, cst.For, cst.While, cst.FunctionDef, cst.ClassDef)
"""The statements that hold other statements, which need not run."""


class KernelWrappers:
    """The names in the files of a program that stand for compiled kernels, or for what always calls them."""

    def __init__(self, program: Program, kernels: CudaKernels, compiled: CompiledModules) -> None:
        self._program = program
        self._kernels = kernels
        self._compiled = compiled
        self._names: dict[Path, frozenset[str]] = {}

    def names_in(self, module: ModuleInfo) -> frozenset[str]:
        """Return the names in a file that stand for compiled kernels, or for what always calls them.

        A class for an operation with a gradient is one of them if it calls a kernel, or refuses tensors off CUDA. A
        member of a file that is imported whole has a dotted name.
        """
        if module.path not in self._names:
            self._find_from(module)
        return self._names[module.path]

    def is_wrapped(self, module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
        """Return whether a node is in a class or function that always calls a compiled kernel.

        A module calls one if its `forward` does.
        `path` are the nodes from the top-level statement down to the node.
        """
        outer = next((one for one in path if isinstance(one, (cst.FunctionDef, cst.ClassDef))), None)
        if outer is None:
            return False
        names = self.names_in(module)
        if outer.name.value in names:
            return True
        return bool(names) and any(
            _always_calls(one, names) if isinstance(one, cst.FunctionDef) else _is_module_of(one, names)
            for one in path
            if isinstance(one, (cst.FunctionDef, cst.ClassDef))
        )

    def may_launch(self, module: ModuleInfo, path: Sequence[cst.CSTNode]) -> bool:
        """Return whether a node is in a function that always calls a compiled module, which may launch CUDA kernels."""
        names = self._compiled.names_in(module)
        return bool(names) and any(_always_calls(one, names) for one in path if isinstance(one, cst.FunctionDef))

    def _find_from(self, module: ModuleInfo) -> None:
        """Find the names of a file and of all files that it imports, directly or not."""
        files = {module.path: module}
        pending = [module]
        while pending:
            one = pending.pop()
            imports = (each for unit in one.index.statements for each in unit.imports)
            for path in {path for each in imports for path in self._files(one, each)}:
                imported = self._program.load(path) if path not in files and path not in self._names else None
                if imported is not None:
                    files[path] = imported
                    pending.append(imported)
        self._names.update((path, frozenset(self._own_names(one))) for path, one in files.items())
        # Without any such name, no file can import one, or call one.
        changed = any(self._names.values())
        while changed:
            changed = False
            for path, one in files.items():
                names = self._with_callers(one, self._names[path] | self._imported_names(one))
                changed = changed or names != self._names[path]
                self._names[path] = names

    def _own_names(self, module: ModuleInfo) -> Iterator[str]:
        """Yield the names of a file that it binds to CUDA kernels, builds itself, or that refuse other devices."""
        imports = [one for unit in module.index.statements for one in unit.imports]
        kernels = {one.name for one in imports if self._kernels.is_kernel_module(module, one)}
        compiled = self._compiled.names_in(module)
        yield from kernels
        for unit in module.index.statements:
            if unit.kind == "class" and _has_gradient(unit):
                # What a compiled module is for is not known: its wrappers may be for CUDA.
                if _refuses_others(unit) or not unit.mentions.isdisjoint(compiled):
                    yield from unit.binds
            elif unit.kind != "import" and (builds_kernels(unit) or imports_kernels(unit)):
                yield from unit.binds

    def _imported_names(self, module: ModuleInfo) -> frozenset[str]:
        """Return the names by which a file imports what stands for kernels in other files, as far as that is known."""
        found = set[str]()
        for unit in module.index.statements:
            for one in unit.imports:
                *_, last = (None, *self._files(module, one))
                names = self._names.get(last, frozenset()) if last is not None else frozenset()
                if one.attribute in names:
                    found.add(one.name)
                elif one.attribute == "*":
                    found |= {name for name in names if "." not in name and not name.startswith("_")}
                elif names:
                    found |= {f"{one.name}.{name}" for name in names if "." not in name}
        return frozenset(found)

    def _with_callers(self, module: ModuleInfo, names: frozenset[str]) -> frozenset[str]:
        """Return names of a file that stand for kernels, with those of the classes and functions that call them."""
        while names:
            new = {name for unit in module.index.statements if _stands_for(unit, names) for name in unit.binds}
            if new <= names:
                break
            names |= new
        return names

    def _files(self, module: ModuleInfo, one: Binding) -> Iterator[Path]:
        """Yield the files of the program that an import names: that of the module, and that of a module in it."""
        for name in (one.module, f"{one.module}.{one.attribute}".strip(".")) if one.attribute else (one.module,):
            path = self._program.resolve(module, name, one.level)
            if path is not None:
                yield path


def _stands_for(unit: Statement, names: Collection[str]) -> bool:
    """Return whether a statement defines what always calls one of some kernels, or gives one another name."""
    if not any(unit.mentions.issuperset(name.split(".")) for name in names):
        return False
    tree = unit.tree_or_none
    match unit.kind:
        case "class":
            return _has_gradient(unit)
        case "function":
            return isinstance(tree, cst.FunctionDef) and _always_calls(tree, names)
        case "other":
            return tree is not None and any(_is_called_or_named(one, names) for one in _assigned(tree))
    return False


def _has_gradient(unit: Statement) -> bool:
    """Return whether a class is for an operation with a gradient of its own."""
    return any(base.rpartition(".")[2] == _GRADIENT for base in unit.bases)


def _refuses_others(unit: Statement) -> bool:
    """Return whether a class for an operation with a gradient raises an error for tensors that are not on CUDA."""
    tree = unit.tree_or_none if "is_cuda" in unit.mentions else None
    for one in descend(tree) if tree is not None else ():
        match one:
            case cst.If(test=cst.UnaryOperation(operator=cst.Not(), expression=test), body=body):
                if "is_cuda" in words_in(test) and any(isinstance(each, cst.Raise) for each in descend(body)):
                    return True
            case cst.Assert(test=test):
                if "is_cuda" in words_in(test):
                    return True
    return False


def _always_calls(function: cst.FunctionDef, names: Collection[str]) -> bool:
    """Return whether a function calls one of some names, or a member of it, whatever its conditions are."""
    return _calls_in(function.body, {*names, *_local_members(function, names)})


def _is_module_of(class_: cst.ClassDef, names: Collection[str]) -> bool:
    """Return whether the `forward` of a class always calls one of some names."""
    methods = (one for one in class_.body.body if isinstance(one, cst.FunctionDef))
    return any(one.name.value == "forward" and _always_calls(one, names) for one in methods)


def _calls_in(body: cst.BaseSuite, names: Collection[str]) -> bool:
    """Return whether a block that runs up to its end calls one of some names, in both branches where a test decides."""
    for one in body.body:
        match one:
            case cst.With(items=items, body=inner):
                found = any(_is_called_or_named(each, names, called=True) for each in items) or _calls_in(inner, names)
            case cst.If():
                found = _calls_in_branches(one, names)
            case _:
                found = not isinstance(one, _COMPOUND) and _is_called_or_named(one, names, called=True)
        if found:
            return True
    return False


def _calls_in_branches(statement: cst.If | cst.Else | None, names: Collection[str]) -> bool:
    """Return whether each branch of a condition calls one of some names; without an `else`, one branch does nothing."""
    match statement:
        case cst.If(body=body, orelse=orelse):
            return _calls_in(body, names) and _calls_in_branches(orelse, names)
        case cst.Else(body=body):
            return _calls_in(body, names)
    return False


def _local_members(function: cst.FunctionDef, names: Collection[str]) -> Iterator[str]:
    """Yield the local names of a function that only stand for members of what has one of some names."""
    bound: dict[str, list[cst.BaseExpression]] = {}
    for one in descend(function.body):
        match one:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                bound.setdefault(name, []).append(value)
    for name, values in bound.items():
        if all(_is_member(one, names) for one in values):
            yield name


def _is_member(value: cst.BaseExpression, names: Collection[str]) -> bool:
    """Return whether an expression is a member of what has one of some names, whichever a condition chooses."""
    match value:
        case cst.IfExp(body=body, orelse=orelse):
            return _is_member(body, names) and _is_member(orelse, names)
        case cst.Attribute(value=owner):
            return dotted_name(owner) in names
    return False


def _is_called_or_named(node: cst.CSTNode, names: Collection[str], *, called: bool = False) -> bool:
    """Return whether code mentions one of some names; where `called`, in the function of a call."""
    parts = [one.func for one in (node, *descend(node)) if isinstance(one, cst.Call)] if called else [node]
    return any(dotted_name(one) in names for part in parts for one in (part, *descend(part)))


def _assigned(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the names and calls that the assignments of a statement bind another name to."""
    for one in (node, *descend(node)):
        if isinstance(one, cst.Assign) and isinstance(one.value, (cst.Name, cst.Attribute, cst.Call)):
            yield one.value
