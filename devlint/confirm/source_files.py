"""The Python files of a project as syntax trees: what stands where, and by which name a file is imported."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
ROOT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""The files that stand at the root of a project."""
SKIPPED = frozenset({".git", ".hg", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache"})
"""Folders that hold no code of the project itself."""
_MODULE_BASES = frozenset(
    "Module Sequential ModuleList ModuleDict LightningModule PreTrainedModel _Loss _WeightedLoss".split()
)
"""The last names of base classes that make a class a module of torch."""


def project_root(path: Path, given: Sequence[Path] = ()) -> Path:
    """Return the folder of the project that a file belongs to.

    Without a sign of one that is the outermost of the given folders that holds the file, else the folder of the file,
    or the one around its packages.
    """
    folder = path.parent
    for one in (folder, *folder.parents):
        if any((one / mark).exists() for mark in ROOT_MARKS):
            return one
    holding = [one for one in given if path.is_relative_to(one)]
    if holding:
        return min(holding, key=lambda one: len(one.parts))
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


@dataclass(frozen=True, slots=True)
class Entry:
    """A function, or a method of a class at the top of a file, which a driver can call; and the class of a method."""

    file: Path
    function: Function
    owner: ast.ClassDef | None = None

    @property
    def name(self) -> str:
        """Return the name that a reader knows it by: `Class.method` or `function`."""
        return f"{self.owner.name}.{self.function.name}" if self.owner else self.function.name


@dataclass(frozen=True)
class ProjectSources:
    """The Python files of a project below its root, parsed when they are first asked for."""

    root: Path
    _trees: dict[Path, ast.Module | None] = field(default_factory=dict)

    def tree(self, path: Path) -> ast.Module | None:
        """Return the syntax tree of a file, or None if it cannot be parsed."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(path.read_bytes())
            except (OSError, SyntaxError, ValueError):
                self._trees[path] = None
        return self._trees[path]

    @cached_property
    def files(self) -> Sequence[Path]:
        """The Python files of the project."""
        return sorted(self._walk(self.root))

    def _walk(self, folder: Path) -> Iterator[Path]:
        for one in folder.iterdir():
            if one.is_dir() and not one.is_symlink():
                if one.name not in SKIPPED:
                    yield from self._walk(one)
            elif one.suffix == ".py":
                yield one

    @cached_property
    def classes(self) -> dict[str, list[tuple[Path, ast.ClassDef]]]:
        """The classes at the top of the project's files, by name."""
        found: dict[str, list[tuple[Path, ast.ClassDef]]] = {}
        for path in self.files:
            tree = self.tree(path)
            for node in tree.body if tree else ():
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, []).append((path, node))
        return found

    def class_named(self, name: str, near: Path) -> tuple[Path, ast.ClassDef] | None:
        """Return the class with a name: that of a file itself, else the only one of the project."""
        known = self.classes.get(name, [])
        here = [one for one in known if one[0] == near]
        return here[0] if here else known[0] if len(known) == 1 else None

    def is_module(self, owner: ast.ClassDef, file: Path, depth: int = 8) -> bool:
        """Return whether a class is a module of torch, by its base classes."""
        for base in owner.bases:
            name = last_name(base)
            if name in _MODULE_BASES or (isinstance(base, ast.Attribute) and last_name(base.value) == "nn"):
                return True
            above = self.class_named(name, file) if name != owner.name and depth else None
            if above is not None and self.is_module(above[1], above[0], depth - 1):
                return True
        return False

    def method(self, owner: ast.ClassDef, name: str, file: Path, depth: int = 8) -> Function | None:
        """Return the method of a class with a name, its own or an inherited one of the project."""
        for node in owner.body:
            if isinstance(node, Function) and node.name == name:
                return node
        for base in owner.bases:
            above = self.class_named(last_name(base), file) if depth else None
            found = self.method(above[1], name, above[0], depth - 1) if above and above[1] is not owner else None
            if found is not None:
                return found
        return None

    def entry_at(self, path: Path, row: int) -> Entry | None:
        """Return the outermost function or method around a row of a file, or None if there is none."""
        tree = self.tree(path)
        for node in tree.body if tree else ():
            if not _has_row(node, row):
                continue
            if isinstance(node, Function):
                return Entry(path, node)
            if isinstance(node, ast.ClassDef):
                methods = [one for one in node.body if isinstance(one, Function) and _has_row(one, row)]
                return Entry(path, methods[0], node) if methods else None
            inner = [one for one in ast.walk(node) if isinstance(one, Function) and _has_row(one, row)]
            return Entry(path, inner[0]) if inner and isinstance(node, ast.If | ast.Try) else None
        return None

    def runs_in_call(self, path: Path, row: int) -> bool:
        """Return whether a row of a file is in the body of a function."""
        tree = self.tree(path)
        functions = (node for node in ast.walk(tree) if isinstance(node, Function)) if tree else ()
        return any(one.body[0].lineno <= row <= (one.end_lineno or row) for one in functions)

    def may_be_skipped(self, path: Path, row: int, column: int) -> bool:
        """Return whether an expression may be skipped when its row runs, as a branch of `a if b else c` is."""
        tree = self.tree(path)
        nodes = list(ast.walk(tree)) if tree else []
        branches = [branch for one in nodes if isinstance(one, ast.IfExp) for branch in (one.body, one.orelse)]
        later = [value for one in nodes if isinstance(one, ast.BoolOp) for value in one.values[1:]]
        inside = [one.elt for one in nodes if isinstance(one, ast.ListComp | ast.SetComp | ast.GeneratorExp)]
        return any(_covers(one, row, column) for one in (*branches, *later, *inside))

    def import_names(self, path: Path) -> Iterator[tuple[Path, str]]:
        """Yield the ways to import a file: a folder for `sys.path`, and the module's dotted name below it.

        The root of the project comes first, then the folder `src` and the like, then the folder of the file itself.
        Names below which the file could not import what it does relative to itself come last.
        """
        folders = [self.root, *reversed([one for one in path.parents if one.is_relative_to(self.root)])]
        packaged = path.parent
        while (packaged / "__init__.py").exists() and packaged != self.root:
            packaged = packaged.parent
        found: list[tuple[Path, str]] = []
        for folder in dict.fromkeys([packaged, *folders]):
            parts = path.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if parts and all(part.isidentifier() for part in parts):
                found.append((folder, ".".join(parts)))
        above = self._packages_needed(path)
        yield from sorted(found, key=lambda way: way[1].count(".") < above)

    def _packages_needed(self, path: Path) -> int:
        """Return how many packages a file needs around it for the relative imports at its top."""
        tree = self.tree(path)
        levels = [one.level for one in tree.body if isinstance(one, ast.ImportFrom)] if tree else []
        return max(levels, default=0) - (path.name == "__init__.py")


def last_name(node: ast.expr) -> str:
    """Return the last name of a dotted name, such as `Module` for `nn.Module`; the empty string for anything else."""
    if isinstance(node, ast.Subscript):
        return last_name(node.value)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _covers(node: ast.expr, row: int, column: int) -> bool:
    """Return whether an expression covers a place, whose column counts from one."""
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno, node.col_offset) <= (row, column - 1) < end


def _has_row(node: ast.stmt, row: int) -> bool:
    """Return whether a statement, with its decorators, covers a row."""
    decorators = getattr(node, "decorator_list", [])
    first: int = min([node.lineno, *(one.lineno for one in decorators)])
    return first <= row <= (node.end_lineno or node.lineno)
