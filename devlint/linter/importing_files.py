"""The files that can mean a function of another file by its name, because they import that file, or may do so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.text_words import has_word

_Parts: TypeAlias = "tuple[str, ...]"
"""The names between the dots of a dotted name, or the parts of a path."""
_RELATIVE: Final = re.compile(r"\bfrom[\s\\]*\.")
"""An import that names a package by dots only, perhaps."""
_WORD: Final = re.compile(r"\w+")
_NAMED: Final = re.compile(r"(?<=[.:\"'])\w+")
"""A word at the end of a dotted name, or in a text."""
_INNER_IMPORT: Final = re.compile(r"^[ \t]+(?:from|import)\b.*", re.MULTILINE)
"""An import in a function, perhaps."""


@dataclass(frozen=True, slots=True)
class _Imported:
    """What the imports of a file name: files of the program, and dotted names that lead to none."""

    files: frozenset[Path]
    outside: frozenset[_Parts]

    @staticmethod
    def of(named: Iterable[tuple[Path | None, str]]) -> _Imported:
        """Return what imports name that are given by the file, None outside of the program, and the dotted name."""
        files, outside = set[Path](), set[_Parts]()
        for path, name in named:
            if path is not None:
                files.add(path)
            else:
                outside.add(tuple(filter(None, name.split("."))))
        return _Imported(frozenset(files), frozenset(outside))

    def may_hold(self, home: ModuleInfo, location: _Parts) -> bool:
        """Return whether an import names a file, or may name it; `location` has the parts of the file's path."""
        return home.path in self.files or _is_end_of(location, self.outside)


class ImportingFiles:
    """The imports between the files of a program, also those within functions and by computed names.

    Only pairs of files are compared of which one names the other by its text: a program has a thousand times as many.
    """

    def __init__(self, program: Program, modules: Sequence[ModuleInfo]) -> None:
        self._program = program
        self._modules = modules
        self._importers: dict[ModuleInfo, Sequence[ModuleInfo]] = {}
        self._at_most: dict[ModuleInfo, _Imported] = {}
        self._at_top: dict[ModuleInfo, _Imported] = {}
        self._named: dict[tuple[ModuleInfo, str], frozenset[_Parts] | None] = {}

    def of_file(self, home: ModuleInfo) -> Sequence[ModuleInfo]:
        """Return the file `home` and those that import it."""
        return [home, *self._importers_of(home)]

    def of_function(self, home: ModuleInfo, name: str) -> Sequence[ModuleInfo]:
        """Return the files in which a name may mean a function of the file `home`: those that import it, or pass it on.

        A file passes on what it names and what it imports by `from a import *`.
        """
        found, pending = {home: None}, [home]
        while pending:
            for one in self._importers_of(pending.pop()):
                if one not in found:
                    found[one] = None
                    if _passes_on(one, name):
                        pending.append(one)
        paths = {one.path for one in found}
        return [one for one in found if one is home or not self._means_another(one, name, paths)]

    def imported_by(self, importer: ModuleInfo) -> Iterator[ModuleInfo]:
        """Yield the files that a file imports, or may import."""
        return (home for home in dict.fromkeys(self._named_by(importer)) if self._may_import(importer, home))

    def _importers_of(self, home: ModuleInfo) -> Sequence[ModuleInfo]:
        """Return the other files that import a file, or may do so, in the order of the files."""
        found = self._importers.get(home)
        if found is None:
            naming = self._naming_files.get(home, ())
            found = [one for one in naming if one is not home and self._may_import(one, home)]
            self._importers[home] = found
        return found

    @cached_property
    def _naming_files(self) -> Mapping[ModuleInfo, Sequence[ModuleInfo]]:
        """The files that may import each file, by their texts, in the order of the files."""
        found: dict[ModuleInfo, list[ModuleInfo]] = defaultdict(list)
        for importer in self._modules:
            for home in dict.fromkeys(self._named_by(importer)):
                found[home].append(importer)
        return found

    def _named_by(self, importer: ModuleInfo) -> Iterator[ModuleInfo]:
        """Yield the files that the text of a file may name: by its imports, after a dot, in quotes or in a function."""
        text, imported = importer.source.text, self._imported_at_most(importer)
        words = {*_NAMED.findall(text), *(word for line in _INNER_IMPORT.findall(text) for word in _WORD.findall(line))}
        words.update(name[-1] for name in imported.outside if name)
        words.update(word for word in self._strange_names if word in text)
        for path in imported.files:
            if path in self._homes_by_path:
                yield self._homes_by_path[path]
        for word in words & self._homes.keys():
            yield from self._homes[word]

    @cached_property
    def _homes_by_path(self) -> Mapping[Path, ModuleInfo]:
        """The files by their paths."""
        return {one.path: one for one in self._modules}

    @cached_property
    def _homes(self) -> Mapping[str, Sequence[ModuleInfo]]:
        """The files by the word that whoever imports them names."""
        homes: dict[str, list[ModuleInfo]] = defaultdict(list)
        for one in self._modules:
            homes[import_name(one)].append(one)
        return homes

    @cached_property
    def _strange_names(self) -> Sequence[str]:
        """The names of files that are no words, such as `my-script`."""
        return [name for name in self._homes if not _WORD.fullmatch(name)]

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
        text, word = importer.source.text, location[-1]
        if not has_word(text, word) and not (home.is_package and _RELATIVE.search(text)):
            return False
        may_hold = self._imported_at_most(importer).may_hold(home, location)
        if not may_hold and not _naming(word).search(text):
            # A file that is set aside need not be indexed then.
            return False
        if self._imported_at_top(importer).may_hold(home, location):
            return True
        named = self._named_in_code(importer, word)
        return named is None or _is_end_of(location, named)

    def _imported_at_top(self, importer: ModuleInfo) -> _Imported:
        """Return what a file's imports at top level name."""
        found = self._at_top.get(importer)
        if found is None:
            imports = [one for unit in importer.index.statements for one in unit.imports]
            found = self._at_top[importer] = _Imported.of(
                (self._program.resolve(importer, name, one.level), name)
                for one in imports
                for name in (one.module, f"{one.module}.{one.attribute}".strip("."))
            )
        return found

    def _imported_at_most(self, importer: ModuleInfo) -> _Imported:
        """Return what a file's imports name by its text; what those at top level name is among it."""
        found = self._at_most.get(importer)
        if found is None:
            found = self._at_most[importer] = _Imported.of(
                (self._program.resolve(importer, name, one.level), name)
                for one in self._program.text_imports(importer.path)
                for name in {one.package, one.module, one.dotted}
            )
        return found

    def _named_in_code(self, importer: ModuleInfo, word: str) -> frozenset[_Parts] | None:
        """Return the dotted names that end with a word in the code of a file; None if a text or an import has it."""
        key = importer, word
        if key not in self._named:
            naming = _naming(word)
            code = (unit.text for unit in importer.index.statements if unit.kind != "import")
            found = {match[1] for text in code if word in text for match in naming.finditer(text)}
            self._named[key] = None if None in found else frozenset(tuple(name.split(".")) for name in found)
        return self._named[key]


def _naming(word: str) -> re.Pattern[str]:
    """Return the pattern of code that names a file by a word: an import in a function, a text, or a dotted name."""
    stem = re.escape(word)
    return re.compile(
        rf"^[ \t]+(?:from|import)\b.*\b{stem}\b|[\"'](?:[\w.]+[.:])?{stem}\b|\b((?:\w+\.)+{stem})\b", re.MULTILINE
    )


def _is_end_of(location: _Parts, names: Set[_Parts]) -> bool:
    """Return whether one of some dotted names may be that of a file or package, given by the parts of its path."""
    return bool(names) and any(location[-length:] in names for length in range(1, len(location) + 1))


def import_name(module: ModuleInfo) -> str:
    """Return the last part of the name under which other files import a file."""
    return module.path.parent.name if module.is_package else module.path.stem


def _passes_on(module: ModuleInfo, name: str) -> bool:
    """Return whether other files can import a name from a file that imports it."""
    return any(
        name in unit.mentions or any(one.name == "*" for one in unit.imports) for unit in module.index.statements
    )
