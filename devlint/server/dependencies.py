"""Dependencies of analysis results: the top-level statements that the analysis of a given statement may have read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from devlint.domain.value import Const, Tensor, Unknown
from devlint.interpreter.driver.module_execution import EFFECT_STATEMENTS
from devlint.interpreter.program.definitions import EnclosingFrame, ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding, Statement

LocatedStatement: TypeAlias = tuple[ModuleInfo, Statement]
"""A top-level statement, and the module that it belongs to."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The top-level statements and modules on which an analysis result depends; if one changes, the result is stale.

    `mutable_modules` are the files of modules from which the analysis read objects that other top-level statements of
    the same module may change.
    """

    statements: frozenset[Statement]
    mutable_modules: frozenset[Path]


class DependencyFinder:
    """A finder of the dependencies of top-level statements, for the program as it was when it was analysed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._binders: dict[ModuleInfo, dict[str, list[Statement]]] = {}
        self._reads: dict[Statement, list[LocatedStatement]] = {}

    def of(
        self, module: ModuleInfo, statements: Iterable[Statement], frames: Mapping[ModuleInfo, EnclosingFrame]
    ) -> Dependencies:
        """Return the dependencies of the analysis of a module's top-level statements; these statements are included.

        `frames` are the frames of the modules that the analysis has run.
        """
        waiting: list[LocatedStatement] = [(module, statement) for statement in statements]
        seen = {statement for _, statement in waiting}
        mutable_modules: set[Path] = set()
        while waiting:
            home, statement = waiting.pop()
            more = self._direct_reads(home, statement)
            if home.path not in mutable_modules and _binds_objects(frames.get(home), statement):
                mutable_modules.add(home.path)
                more = [*more, *((home, one) for one in home.index.statements if _has_effect(one))]
            for site in more:
                if site[1] not in seen:
                    seen.add(site[1])
                    waiting.append(site)
        return Dependencies(frozenset(seen), frozenset(mutable_modules))

    def of_mentions(
        self, module: ModuleInfo, statement: Statement, frames: Mapping[ModuleInfo, EnclosingFrame]
    ) -> Dependencies:
        """Return the dependencies of the decision whether the analysis can skip a definition.

        A definition can be skipped if nothing in it concerns tensors. The dependencies are the statements that define
        the names which the definition mentions, but not what the functions among them depend on.
        """
        reads = self._direct_reads(module, statement)
        values = [(home, one) for home, one in reads if one.kind == "other"]
        found = [self.of(home, [one], frames) for home, one in values]
        statements = frozenset({statement, *(one for _, one in reads)}).union(*(one.statements for one in found))
        return Dependencies(statements, frozenset().union(*(one.mutable_modules for one in found)))

    def _direct_reads(self, module: ModuleInfo, statement: Statement) -> list[LocatedStatement]:
        """Return the top-level statements, in any module, that define the names which one statement mentions."""
        found = self._reads.get(statement)
        if found is None:
            sites = (
                site
                for name in statement.mentions
                for site in self._statements_behind(module, name, statement.mentions, set())
            )
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
                found = self._module(module, binding.module, binding.level) if binding.name == "*" else None
                if found is not None:
                    yield module, statement
                    yield from self._statements_behind(found, name, mentions, visited)

    def _statements_behind_import(
        self, module: ModuleInfo, binding: Binding, mentions: frozenset[str], visited: set[tuple[Path, str]]
    ) -> Iterator[LocatedStatement]:
        """Yield the statements of other modules that define what a name bound by an import statement refers to."""
        if binding.attribute is None:
            wanted = binding.module if binding.name != binding.module.partition(".")[0] else binding.name
            yield from self._statements_behind_attributes(
                self._module(module, wanted, binding.level), mentions, visited
            )
            return
        found = self._module(module, binding.module, binding.level)
        if found is not None:
            yield from self._statements_behind(found, binding.attribute, mentions, visited)
        dotted = f"{binding.module}.{binding.attribute}" if binding.module else binding.attribute
        yield from self._statements_behind_attributes(self._module(module, dotted, binding.level), mentions, visited)

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
                yield from self._statements_behind_attributes(self._module(found, name, 1), mentions, visited)

    def _module(self, importer: ModuleInfo, name: str, level: int) -> ModuleInfo | None:
        """Return the module that an import statement names, or None if the analysis has not loaded that module."""
        path = self._program.resolve(importer, name, level)
        return self._program.loaded(path) if path is not None else None

    def _binders_of(self, module: ModuleInfo) -> dict[str, list[Statement]]:
        """Return a mapping from each name that a module's top-level statements bind to the statements that bind it."""
        found = self._binders.get(module)
        if found is None:
            found = self._binders[module] = {}
            for statement in module.index.statements:
                for name in statement.binds | statement.globals | {one.name for one in statement.imports}:
                    found.setdefault(name, []).append(statement)
        return found


def _has_effect(statement: Statement) -> bool:
    """Return whether a top-level statement may do more than bind names: it is a loop, a condition or a plain call."""
    return statement.kind == "other" and (
        not statement.binds or statement.text.startswith((*EFFECT_STATEMENTS, "if ", "try"))
    )


def _binds_objects(frame: EnclosingFrame | None, statement: Statement) -> bool:
    """Return whether a top-level statement binds a name to a mutable object, which other code can change.

    `frame` is that of the statement's module, None if the module was not run.
    """
    if statement.kind != "other" or frame is None:
        return False
    names = frame.state.names
    plain = (Const, Tensor, Unknown)
    return any(name in names and not isinstance(names[name], plain) for name in statement.binds)
