"""What the analysis of a statement may have read: the statements behind the names that it mentions, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from devlint.domain.value import Const, Tensor, Unknown
from devlint.interpreter.driver.module_execution import REPEATING
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding, Statement

Site: TypeAlias = tuple[ModuleInfo, Statement]
"""A statement, and the module in which it stands."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a piece of analysis depends on. `sways` are the modules whose top level it reads things of that other
    statements there may change."""

    units: frozenset[Statement]
    sways: frozenset[Path]


class Dependencies:
    """Answers for one state of the program, after it was analysed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._binders: dict[ModuleInfo, dict[str, list[Statement]]] = {}
        self._read: dict[Statement, list[Site]] = {}

    def of(self, module: ModuleInfo, units: Iterable[Statement]) -> Needs:
        """What the statements of a module depend on, themselves included."""
        waiting: list[Site] = [(module, unit) for unit in units]
        seen = {unit for _, unit in waiting}
        sways: set[Path] = set()
        while waiting:
            home, unit = waiting.pop()
            more = self._reads(home, unit)
            if home.path not in sways and _binds_objects(home, unit):
                sways.add(home.path)
                more = [*more, *((home, one) for one in home.index.statements if _has_effect(one))]
            for site in more:
                if site[1] not in seen:
                    seen.add(site[1])
                    waiting.append(site)
        return Needs(frozenset(seen), frozenset(sways))

    def of_mentions(self, module: ModuleInfo, unit: Statement) -> Needs:
        """What it depends on whether a definition is looked at at all: what it mentions, but not what that calls."""
        reads = self._reads(module, unit)
        values = [(home, one) for home, one in reads if one.kind == "other"]
        found = [self.of(home, [one]) for home, one in values]
        units = frozenset({unit, *(one for _, one in reads)}).union(*(one.units for one in found))
        return Needs(units, frozenset().union(*(one.sways for one in found)))

    def _reads(self, module: ModuleInfo, unit: Statement) -> list[Site]:
        found = self._read.get(unit)
        if found is None:
            sites = (site for name in unit.mentions for site in self._named(module, name, unit.mentions, set()))
            found = self._read[unit] = list(dict.fromkeys(sites))
        return found

    def _named(
        self, module: ModuleInfo, name: str, mentions: frozenset[str], passed: set[tuple[Path, str]]
    ) -> Iterator[Site]:
        """The statements behind a name of a module: those that bind it, and what stands behind what they import."""
        if (module.path, name) in passed:
            return
        passed.add((module.path, name))
        binders = self._binders_of(module)
        for unit in binders.get(name, ()):
            yield module, unit
            for binding in unit.imports:
                if binding.name == name:
                    yield from self._imported(module, binding, mentions, passed)
        for unit in binders.get("*", ()):
            for binding in unit.imports:
                found = self._module(module, binding.module, binding.level) if binding.name == "*" else None
                if found is not None:
                    yield module, unit
                    yield from self._named(found, name, mentions, passed)

    def _imported(
        self, module: ModuleInfo, binding: Binding, mentions: frozenset[str], passed: set[tuple[Path, str]]
    ) -> Iterator[Site]:
        if binding.attribute is None:
            wanted = binding.module if binding.name != binding.module.partition(".")[0] else binding.name
            yield from self._attributes(self._module(module, wanted, binding.level), mentions, passed)
            return
        found = self._module(module, binding.module, binding.level)
        if found is not None:
            yield from self._named(found, binding.attribute, mentions, passed)
        dotted = f"{binding.module}.{binding.attribute}" if binding.module else binding.attribute
        yield from self._attributes(self._module(module, dotted, binding.level), mentions, passed)

    def _attributes(
        self, found: ModuleInfo | None, mentions: frozenset[str], passed: set[tuple[Path, str]]
    ) -> Iterator[Site]:
        """What may be read of a module by code that mentions these names."""
        if found is None:
            return
        for name in mentions:
            yield from self._named(found, name, mentions, passed)
            if found.is_package and (found.path, f".{name}") not in passed:
                passed.add((found.path, f".{name}"))
                yield from self._attributes(self._module(found, name, 1), mentions, passed)

    def _module(self, importer: ModuleInfo, name: str, level: int) -> ModuleInfo | None:
        """The module of that name, if anybody has needed it."""
        path = self._program.resolve(importer, name, level)
        return self._program.loaded(path) if path is not None else None

    def _binders_of(self, module: ModuleInfo) -> dict[str, list[Statement]]:
        found = self._binders.get(module)
        if found is None:
            found = self._binders[module] = {}
            for unit in module.index.statements:
                for name in unit.binds | unit.globals | {one.name for one in unit.imports}:
                    found.setdefault(name, []).append(unit)
        return found


def _has_effect(unit: Statement) -> bool:
    """Whether a top-level statement is there for more than the names it binds."""
    return unit.kind == "other" and (not unit.binds or unit.text.startswith((*REPEATING, "if ", "try")))


def _binds_objects(module: ModuleInfo, unit: Statement) -> bool:
    """Whether a statement gives a name of its module something that others can change."""
    if unit.kind != "other" or module.run is None:
        return False
    names = module.run.state.names
    plain = (Const, Tensor, Unknown)
    return any(name in names and not isinstance(names[name], plain) for name in unit.binds)
