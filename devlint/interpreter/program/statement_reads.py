"""The statements that code may read: those that define the names which a top-level statement mentions, in any file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.syntax.index import Binding, Statement
from devlint.syntax.text_imports import text_imports

LocatedStatement: TypeAlias = tuple[ModuleInfo, Statement]
"""A top-level statement, and the module that it belongs to."""


class StatementReads:
    """The top-level statements that define the names which statements mention, found by these names.

    `find` returns the module that an import in a file names, or None if the import is not followed.
    """

    def __init__(self, find: Callable[[ModuleInfo, str, int], ModuleInfo | None]) -> None:
        self._find = find
        self._binders: dict[ModuleInfo, dict[str, list[Statement]]] = {}
        self._reads: dict[Statement, list[LocatedStatement]] = {}

    def direct_reads(self, module: ModuleInfo, statement: Statement) -> list[LocatedStatement]:
        """Return the top-level statements, in any module, that define the names which one statement mentions."""
        found = self._reads.get(statement)
        if found is None:
            mentions = statement.mentions
            sites = [site for name in mentions for site in self._statements_behind(module, name, mentions, set())]
            for binding in _inner_imports(statement):
                sites += self._statements_behind_import(module, binding, mentions, set())
            found = self._reads[statement] = list(dict.fromkeys(sites))
        return found

    def _statements_behind(
        self, module: ModuleInfo, name: str, mentions: frozenset[str], visited: set[tuple[Path, str]]
    ) -> Iterator[LocatedStatement]:
        """Yield the top-level statements that define a name of a module.

        For an imported name these are the import statement and the statements that define it in the imported module.
        `mentions` are all names that the reading code mentions. `visited` prevents endless recursion.
        """
        if (module.path, name) in visited:
            return
        visited.add((module.path, name))
        binders = self._binders_of(module)
        for statement in binders.get(name, ()):
            yield module, statement
            for binding in statement.imports:
                if binding.name == name:
                    yield from self._statements_behind_import(module, binding, mentions, visited)
        for statement in binders.get("*", ()):
            for binding in statement.imports:
                found = self._find(module, binding.module, binding.level) if binding.name == "*" else None
                if found is not None:
                    yield module, statement
                    yield from self._statements_behind(found, name, mentions, visited)

    def _statements_behind_import(
        self, module: ModuleInfo, binding: Binding, mentions: frozenset[str], visited: set[tuple[Path, str]]
    ) -> Iterator[LocatedStatement]:
        """Yield the statements of other modules that define what a name bound by an import statement refers to."""
        if binding.attribute is None:
            wanted = binding.module if binding.name != binding.module.partition(".")[0] else binding.name
            yield from self._statements_behind_attributes(self._find(module, wanted, binding.level), mentions, visited)
            return
        found = self._find(module, binding.module, binding.level)
        if found is not None:
            yield from self._statements_behind(found, binding.attribute, mentions, visited)
        dotted = f"{binding.module}.{binding.attribute}" if binding.module else binding.attribute
        yield from self._statements_behind_attributes(self._find(module, dotted, binding.level), mentions, visited)

    def _statements_behind_attributes(
        self, found: ModuleInfo | None, mentions: frozenset[str], visited: set[tuple[Path, str]]
    ) -> Iterator[LocatedStatement]:
        """Yield the statements of a module that define any of the `mentions`.

        These names may be read as attributes of the module.
        """
        if found is None:
            return
        for name in mentions:
            yield from self._statements_behind(found, name, mentions, visited)
            if found.is_package and (found.path, f".{name}") not in visited:
                visited.add((found.path, f".{name}"))
                yield from self._statements_behind_attributes(self._find(found, name, 1), mentions, visited)

    def _binders_of(self, module: ModuleInfo) -> dict[str, list[Statement]]:
        """Return a mapping from each name that a module's top-level statements bind to the statements that bind it."""
        found = self._binders.get(module)
        if found is None:
            found = self._binders[module] = {}
            for statement in module.index.statements:
                for name in statement.binds | statement.globals | {one.name for one in statement.imports}:
                    found.setdefault(name, []).append(statement)
        return found


def _inner_imports(statement: Statement) -> Iterator[Binding]:
    """Yield what the imports in the functions of a statement bind."""
    if statement.kind == "import" or "import" not in statement.text:
        return
    for level, module, attribute in text_imports(statement.text):
        if attribute and attribute != "*":
            yield Binding(attribute, module, attribute, level)
        elif module:
            yield Binding(module, module, level=level)
