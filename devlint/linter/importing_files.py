"""The files that can mean a function of another file by its name, because they import that file, or may do so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from pathlib import Path
from typing import Final, TypeAlias

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.text_words import has_word

_Imported: TypeAlias = "tuple[Path | None, tuple[str, ...]]"
"""What an import names: the file, None outside of the program, and the parts of the dotted name."""
_RELATIVE: Final = re.compile(r"\bfrom[\s\\]*\.")
"""An import that names a package by dots only, perhaps."""


class ImportingFiles:
    """The imports between the files of a program, also those within functions and by computed names."""

    def __init__(self, program: Program, modules: Sequence[ModuleInfo]) -> None:
        self._program = program
        self._modules = modules
        self._known: dict[tuple[ModuleInfo, ModuleInfo], bool] = {}

    def of_file(self, home: ModuleInfo) -> Sequence[ModuleInfo]:
        """Return the file `home` and those that import it."""
        return [home, *(one for one in self._modules if one is not home and self.imports(one, home))]

    def of_function(self, home: ModuleInfo, name: str) -> Sequence[ModuleInfo]:
        """Return the files in which a name may mean a function of the file `home`: those that import it, or pass it on.

        A file passes on what it names and what it imports by `from a import *`.
        """
        found, pending = [home], [home]
        while pending:
            passing = pending.pop()
            for one in self._modules:
                if one not in found and self.imports(one, passing):
                    found.append(one)
                    if _passes_on(one, name):
                        pending.append(one)
        paths = {one.path for one in found}
        return [one for one in found if one is home or not self._means_another(one, name, paths)]

    def imports(self, importer: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether a file imports another one, or may do so; the answer is cached."""
        known = self._known.get((importer, home))
        if known is None:
            known = self._known[importer, home] = self._may_import(importer, home)
        return known

    def _means_another(self, module: ModuleInfo, name: str, paths: Set[Path]) -> bool:
        """Return whether a file means something else by a name: its own definition, or what other files define.

        `paths` are those of the files that define the name or pass it on.
        """
        elsewhere = re.compile(
            rf"[.\"']{re.escape(name)}\b|^[ \t]+(?:from|import)\b.*\b{re.escape(name)}\b", re.MULTILINE
        )
        if any(elsewhere.search(unit.text) for unit in module.index.statements if unit.kind != "import"):
            return False
        imported = [one for unit in module.index.statements for one in unit.imports if one.name in (name, "*")]
        if any(self._program.resolve(module, one.module, one.level) in {*paths, None} for one in imported):
            return False
        return bool(imported) or any(unit.name == name for unit in module.index.statements)

    def _may_import(self, importer: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether an import of a file is that of another one, or may be, or the code names the other one."""
        location = (home.path.parent if home.is_package else home.path.with_suffix("")).parts
        text = importer.source.text
        if not has_word(text, location[-1]) and not (home.is_package and _RELATIVE.search(text)):
            return False
        stem = re.escape(location[-1])
        named = re.compile(
            rf"^[ \t]+(?:from|import)\b.*\b{stem}\b|[\"'](?:[\w.]+[.:])?{stem}\b|\b((?:\w+\.)+{stem})\b", re.MULTILINE
        )
        if not _is_among(self._imported_at_most(importer), home.path, location) and not named.search(text):
            # A file that is set aside need not be indexed then.
            return False
        if _is_among(self._imported(importer), home.path, location):
            return True
        matches = (
            match for unit in importer.index.statements if unit.kind != "import" for match in named.finditer(unit.text)
        )
        return any(match[1] is None or _is_end(tuple(match[1].split(".")), location) for match in matches)

    def _imported(self, importer: ModuleInfo) -> Iterator[_Imported]:
        """Yield what a file's imports at top level name: the file (None outside of the program) and the name."""
        for unit in importer.index.statements:
            for one in unit.imports:
                for name in (one.module, f"{one.module}.{one.attribute}".strip(".")):
                    yield self._program.resolve(importer, name, one.level), _parts(name)

    def _imported_at_most(self, importer: ModuleInfo) -> Iterator[_Imported]:
        """Yield what a file's imports name by its text; what `_imported` yields is among it."""
        for one in self._program.text_imports(importer.path):
            for name in {one.package, one.module, one.dotted}:
                yield self._program.resolve(importer, name, one.level), _parts(name)


def _parts(name: str) -> tuple[str, ...]:
    """Return the names between the dots of a dotted name."""
    return tuple(filter(None, name.split(".")))


def _is_among(imported: Iterable[_Imported], path: Path, location: tuple[str, ...]) -> bool:
    """Return whether an import names a file, or may name it; `location` has the parts of the file's path."""
    return any(found == path or (found is None and _is_end(names, location)) for found, names in imported)


def _is_end(names: tuple[str, ...], location: tuple[str, ...]) -> bool:
    """Return whether a dotted name may be that of a file or package, given by the parts of its path."""
    return bool(names) and location[-len(names) :] == names


def import_name(module: ModuleInfo) -> str:
    """Return the last part of the name under which other files import a file."""
    return module.path.parent.name if module.is_package else module.path.stem


def _passes_on(module: ModuleInfo, name: str) -> bool:
    """Return whether other files can import a name from a file that imports it."""
    return any(
        name in unit.mentions or any(one.name == "*" for one in unit.imports) for unit in module.index.statements
    )
