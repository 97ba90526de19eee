"""The files with definitions that a decorator puts into a registry, by the global name of the registry."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Statement

REGISTERED: Final = re.compile(r"(@[^\n]*\n)*?@([\w.]*\.)?_?register", re.IGNORECASE)
"""The pattern of the beginning of a definition with a registering decorator."""

_REGISTERS: Final = re.compile(r"@([\w.]*\.)?_?register", re.IGNORECASE)
"""What the text of a file with such a definition holds."""

MAX_REGISTERED: Final = 16
"""The number of definitions up to which a registry is filled one by one.

Programs rarely read a larger registry (a catalogue) by a constant key, so its contents are left unknown.
"""

MAX_HOPS: Final = 4
"""The number of imports through which the name of a decorator is followed to where it is defined."""

_DECORATOR: Final = re.compile(r"@\s*(\w+)((?:\.\w+)*)")

Registry: TypeAlias = "tuple[Path, str]"
"""A global name that may hold a registry: the file that binds it, and the name."""


class RegisteringFiles:
    """The files of a program that fill registries when they are imported, by the registries.

    A decorator fills the object of which it is a method, or the global names that its function mentions.
    """

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports

    def imported_by(self, start: ModuleInfo, registry: Registry) -> list[tuple[ModuleInfo, int]]:
        """Return the files imported by a file, directly or not, that fill a registry; each with its registrations."""
        counts = self._registrations.get(registry)
        if counts is None:
            return []
        reached = self._imports.reached_by(start.path)
        return [(module, count) for module, count in counts.items() if module.path in reached and module is not start]

    def all_imported_by(self, start: ModuleInfo) -> dict[Registry, list[tuple[ModuleInfo, int]]]:
        """Return, for each registry, the files imported by a file that fill it, with their registrations."""
        found = {registry: self.imported_by(start, registry) for registry in self._registrations}
        return {registry: files for registry, files in found.items() if files}

    @cached_property
    def _registrations(self) -> Mapping[Registry, Mapping[ModuleInfo, int]]:
        """The number of definitions that each file puts into each registry."""
        found: dict[Registry, dict[ModuleInfo, int]] = defaultdict(dict)
        for path in self._imports.files_whose_text(_registers):
            module = self._program.load(path)
            for unit in module.index.statements if module is not None else ():
                if module is not None and unit.starts_with("@") and REGISTERED.match(unit.text):
                    for registry in self._registries_of(module, unit):
                        found[registry][module] = found[registry].get(module, 0) + 1
        return found

    def _registries_of(self, module: ModuleInfo, unit: Statement) -> Iterator[Registry]:
        """Yield the registries to which the decorators of a definition may write."""
        for line in unit.text.splitlines():
            decorator = _DECORATOR.match(line)
            if decorator is None:
                return
            home, name = self._definition_of(module, decorator[1])
            attributes = decorator[2].split(".")[1:]
            if attributes and name == "":
                name, attributes = attributes[0], attributes[1:]
            if attributes:
                yield home.path, name
                continue
            function = home.index.definitions.get(name)
            if function is not None:
                yield from ((home.path, one) for one in sorted(function.mentions & home.assigned_names))

    def _definition_of(self, module: ModuleInfo, name: str) -> tuple[ModuleInfo, str]:
        """Return the file that defines a name of a file, and the name there; "" for the file as a whole."""
        for _ in range(MAX_HOPS):
            bindings = [one for unit in module.index.statements for one in unit.imports if one.name == name]
            if not bindings:
                break
            binding = bindings[-1]
            found = self._program.find(module, binding.module, binding.level)
            whole = binding.module if binding.attribute is None else f"{binding.module}.{binding.attribute}"
            inner = self._program.find(module, whole.strip("."), binding.level)
            if inner is not None and (binding.attribute is None or inner is not found):
                return inner, ""
            if found is None or binding.attribute is None:
                break
            module, name = found, binding.attribute
        return module, name


def _registers(text: str) -> bool:
    """Return whether the text of a file holds a definition with a registering decorator."""
    return "register" in text.casefold() and _REGISTERS.search(text) is not None
