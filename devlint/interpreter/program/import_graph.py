"""The import graph of the analysed program: which files import a file, directly or through other files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding


class ImportGraph:
    """The imports at the top level of the program's files; files are read when the graph is first asked."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._importers: dict[Path, set[Path]] | None = None
        self._imports: dict[ModuleInfo, tuple[Path, ...]] = {}
        self._last_reached: tuple[Path | None, frozenset[Path]] = None, frozenset()

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The files to analyse and those that they import, directly or through other files, sorted."""
        return tuple(sorted(self._reached))

    @cached_property
    def _reached(self) -> frozenset[Path]:
        """The files to analyse and those that they import, directly or through other files."""
        given = self._program.paths_of_interest
        return self.reached_from(given).union(given)

    def files_whose_text(self, holds: Callable[[str], object]) -> tuple[Path, ...]:
        """Return those of the `files` of whose text something holds."""
        sources = ((path, self._program.source(path)) for path in self._files_at_most)
        texts = {path: source.text for path, source in sources if source is not None}
        return self.files_of_which(lambda path: path in texts and holds(texts[path]))

    def files_of_which(self, holds: Callable[[Path], object]) -> tuple[Path, ...]:
        """Return those of the `files` of which something holds that their texts tell.

        Files that cannot lead to one of these, by their texts, are not indexed for the answer.
        """
        found = frozenset(path for path in self._files_at_most if holds(path))
        if not found:
            return ()
        leading = found | _reachable(found, lambda path: self._importers_at_most.get(path, ()))
        start = leading.intersection(self._program.paths_of_interest)
        reached = _reachable(start, lambda path: leading.intersection(self._imports_of(path)))
        return tuple(sorted(found & (reached | start)))

    @cached_property
    def _importers_at_most(self) -> Mapping[Path, frozenset[Path]]:
        """The files that may be reached and import each file by their texts, at their top level or in a function."""
        found: dict[Path, set[Path]] = defaultdict(set)
        for importer in self._files_at_most:
            for path in self._program.imports_at_most(importer):
                found[path].add(importer)
        return {path: frozenset(importers) for path, importers in found.items()}

    @cached_property
    def _files_at_most(self) -> frozenset[Path]:
        """The files to analyse and those that they may import, by their texts: the `files` are among them."""
        given = self._program.paths_of_interest
        return frozenset(given) | _reachable(given, self._program.imports_at_most)

    def imports(self, module: ModuleInfo) -> tuple[Path, ...]:
        """Return the files of the program that a file imports at its top level, in the order of the imports."""
        found = self._imports.get(module)
        if found is None:
            found = self._imports[module] = tuple(dict.fromkeys(self._find_imports(module)))
        return found

    def _find_imports(self, module: ModuleInfo) -> Iterator[Path]:
        """Yield the files that the words of a file's imports name."""
        for unit in module.index.statements:
            for one in unit.imports:
                yield from self.named_by(module, one)

    def named_by(self, module: ModuleInfo, binding: Binding) -> Iterator[Path]:
        """Yield the files of the program that the words of one import in a file name."""
        names = (binding.module, f"{binding.module}.{binding.attribute}") if binding.attribute else (binding.module,)
        for name in names:
            path = self._program.resolve(module, name.strip("."), binding.level)
            if path is not None:
                yield path

    def reached_from(self, start: Iterable[Path]) -> frozenset[Path]:
        """Return the files that some files import, directly or through other files."""
        return _reachable(start, self._imports_of)

    def reached_by(self, path: Path) -> frozenset[Path]:
        """Return the files that one file imports, directly or through other files.

        Several facts about one file ask for them in a row, so the last answer is kept, and not those for all files.
        """
        if self._last_reached[0] != path:
            self._last_reached = path, self.reached_from([path])
        return self._last_reached[1]

    def importers_of(self, path: Path) -> frozenset[Path]:
        """Return the files that import a file, directly or through other files.

        Only the files to analyse count, and those through which they import it: what is found in a file does not depend
        on files that have nothing to do with it.
        """
        if self._importers is None:
            self._importers = self._reversed()
        importers = self._importers
        return _reachable([path], lambda one: importers.get(one, ()))

    def users_at_most(self, path: Path) -> frozenset[Path]:
        """Return the files that may use what a file defines: they import it, or one of their functions does."""
        return self.importers_of(path) | self._importers_at_most.get(path, frozenset()) & self._reached

    def _reversed(self) -> dict[Path, set[Path]]:
        """Return the files that import each file directly, among the files to analyse and those that they reach."""
        importers: dict[Path, set[Path]] = defaultdict(set)
        for importer in self.files:
            for path in self._imports_of(importer):
                importers[path].add(importer)
        return importers

    def _imports_of(self, path: Path) -> tuple[Path, ...]:
        """Return the files that the file at a path imports; none if the file cannot be read."""
        module = self._program.load(path)
        return self.imports(module) if module is not None else ()


def _reachable(start: Iterable[Path], neighbours: Callable[[Path], Iterable[Path]]) -> frozenset[Path]:
    """Return the files that are reached from some files by one step or more of a graph."""
    reached: set[Path] = set()
    pending = list(start)
    while pending:
        for path in neighbours(pending.pop()):
            if path not in reached:
                reached.add(path)
                pending.append(path)
    return frozenset(reached)
