"""The analysed program: its files by path, and the resolution of imports between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.disk_reads import DiskReads
from devlint.interpreter.program.file_reader import FileReader
from devlint.interpreter.program.import_search import ImportSearch
from devlint.syntax.index import FileIndex
from devlint.syntax.source import Source, SourceError
from devlint.syntax.source_reading import shown_name
from devlint.syntax.statement_outline import FileOutline
from devlint.syntax.text_imports import TextImport, text_imports

ANALYSED_LIBRARY: Final = "torch"
"""The library that analysed programs use.

A package of this name inside another package is only ever imported by the other's name: found as the library, it would
leave nothing of the program that could use the library.
"""


class Program:
    """The analysed program: the files to analyse, and the files that they import from the same root folders.

    Files are read and indexed when they are first needed.
    """

    def __init__(
        self,
        files: Iterable[tuple[Path, str]],
        roots: Sequence[Path] = (),
        texts: Mapping[Path, bytes] = MappingProxyType({}),
        index: Callable[[Path, str], FileIndex] | None = None,
        reader: FileReader | None = None,
    ) -> None:
        """Create a program from the files to analyse.

        `files` pairs each path with the filename to show to the user. `roots` are further folders from which absolute
        imports may start. `texts` replace the contents of the files at these paths. `index`, if given, is called with
        the path and the filename of a file and returns its index (its top-level statements); it raises SourceError for
        a file that cannot be indexed. Otherwise `reader` reads the files, by default from the disk.
        """
        self._texts = {path.resolve(): data for path, data in texts.items()}
        self._index = index
        self._reader = reader or FileReader(texts)
        self._shown = {path.resolve(): name for path, name in files}
        self._same_paths = {path: path for path in self._shown}
        """One object for each path that was resolved: equal paths that are the same object are compared at once."""
        self._given_names: dict[Path, set[str]] = {}
        """The names of the files and folders to analyse in each folder above them."""
        for path in self._shown:
            self._add_names(path)
        self._found_names: dict[Path, dict[str, bool]] = defaultdict(dict)
        self._searched: dict[Path, ImportSearch] = {}
        self._searches: dict[Path, ImportSearch] = {}
        """The searches for the imports of files, by the folder of a file and by the file."""
        self._roots = [root.resolve() for root in roots]
        self.broken_files: dict[Path, tuple[str, SourceError]] = {}
        """The filenames of the files of `files` that cannot be read or parsed, with the errors that say why."""
        self._modules: dict[Path, ModuleInfo | None] = {}
        self._modules_by_filename: dict[str, ModuleInfo] = {}
        """The first module that was loaded under each filename."""
        self._sources: dict[Path, Source | None] = {}
        self._aside: frozenset[Path] = frozenset()
        self._text_imports: dict[Path, frozenset[TextImport]] = {}
        self._imports_at_most: dict[Path, frozenset[Path]] = {}
        self.disk = DiskReads()

    @property
    def given_paths(self) -> list[Path]:
        """Return the paths of the files that the user named, sorted."""
        return sorted(self._shown)

    @property
    def read_files(self) -> Mapping[Path, str]:
        """Return the files that were read so far, with the names under which they are shown."""
        return {path: self.name_of(path) for path in (*self._modules, *self._sources)}

    def name_of(self, path: Path) -> str:
        """Return the filename under which a file is shown to the user."""
        return self._shown.get(path) or shown_name(path)

    def text_bytes(self, path: Path) -> bytes:
        """Return the content of a file, given to the program or on the disk; empty if it cannot be read."""
        try:
            return self._texts.get(path) or path.read_bytes()
        except OSError:
            return b""

    @property
    def paths_of_interest(self) -> list[Path]:
        """Return the paths of the files that the user named, sorted, without those that are set aside."""
        return sorted(self._shown.keys() - self._aside)

    def set_aside(self, paths: Iterable[Path]) -> None:
        """Set aside files that are not analysed: they are parsed, but indexed only if their index is read."""
        self._aside |= frozenset(paths)

    def is_set_aside(self, path: Path) -> bool:
        """Return whether a file is one that is not analysed, because no tensor can occur in it."""
        return path in self._aside

    def is_given(self, filename: str) -> bool:
        """Return whether a filename is that of a file which the user named."""
        return filename in self._shown.values()

    def add(self, path: Path, index: FileIndex) -> None:
        """Add a file to the program whose text is given by the caller and not read from the disk."""
        path = path.resolve()
        self._shown.setdefault(path, index.source.filename)
        self._add_names(path)
        self._found_names.clear()
        self._searched.clear()
        self._searches.clear()
        self._imports_at_most.clear()
        module = self._modules[path] = self._module(path, index.source, lambda: index)
        self._modules_by_filename[module.filename] = module

    def load(self, path: Path) -> ModuleInfo | None:
        """Return the module of a file; None when the file cannot be read or parsed.

        For a file that the user named, the error is recorded.
        """
        if path not in self._modules:
            try:
                module = self._modules[path] = self._read(path)
                self._modules_by_filename.setdefault(module.filename, module)
            except SourceError as error:
                self._modules[path] = None
                if path in self._shown:
                    self.broken_files[path] = self._shown[path], error
        return self._modules[path]

    def is_to_be_indexed(self, path: Path) -> bool:
        """Return whether a file would be parsed for its index, which is neither read so far nor stored."""
        return self._index is None and path not in self._modules and not self._reader.has_index(path)

    def keep_outline(self, path: Path, outline: FileOutline) -> None:
        """Keep the outline of a file, found by another process, until the file is loaded."""
        self._reader.keep_outline(path, outline)

    def source(self, path: Path) -> Source | None:
        """Return the text of a file; None if it cannot be read. The file need not be parsed for it."""
        if path not in self._sources:
            module = self._modules.get(path) if self._index is None else self.load(path)
            try:
                self._sources[path] = module.source if module is not None else self._read_text(path)
            except SourceError:
                self._sources[path] = None
        return self._sources[path]

    def _read(self, path: Path) -> ModuleInfo:
        """Return the module of a file; raises SourceError if the file cannot be read or parsed."""
        if self._index is not None:
            index = self._index(path, self.name_of(path))
            return self._module(path, index.source, lambda: index)
        source = self._sources.get(path) or self._read_text(path)
        if path in self._aside and self._reader.is_plain(path, source):
            return self._module(path, source, lambda: self._reader.index(path, source))
        read = self._reader.index(path, source)
        return self._module(path, source, lambda: read)

    def _read_text(self, path: Path) -> Source:
        """Return the text of a file; raises SourceError if the file cannot be read."""
        return self._reader.source(path, self.name_of(path))

    def by_filename(self, filename: str) -> ModuleInfo | None:
        """Return the loaded module whose file is shown to the user under a filename; None if there is none."""
        return self._modules_by_filename.get(filename)

    def loaded(self, path: Path) -> ModuleInfo | None:
        """Return the module of a file if the program has loaded the file already, otherwise None."""
        return self._modules.get(path)

    def find(self, importer: ModuleInfo, module: str, level: int) -> ModuleInfo | None:
        """Return the module that an import in `importer` names.

        `module` is the dotted name in the import, `level` the number of dots before it. The result is None when the
        module is not part of the program.
        """
        found = self.resolve(importer, module, level)
        return self.load(found) if found is not None else None

    def resolve(self, importer: ModuleInfo, module: str, level: int) -> Path | None:
        """Return the file of the module that an import in `importer` names.

        `module` is the dotted name in the import, `level` the number of dots before it. The result is None when the
        module is not part of the program.
        """
        return self.resolve_from(importer.path, module, level)

    def resolve_from(self, origin: Path, module: str, level: int) -> Path | None:
        """Return the file of the module that an import in the file `origin` names; None if it is not of the program."""
        search = self._search(origin)
        key = "." * level + module
        if key not in search.resolved:
            find = self._resolve_relative if level else self._resolve_absolute
            found = find(search, module, level)
            search.resolved[key] = None if found is None else self._same_paths.setdefault(found, found)
        return search.resolved[key]

    def _resolve_relative(self, search: ImportSearch, module: str, level: int) -> Path | None:
        """Return the file that a relative import names, with so many dots before the module's name."""
        base = search.folder
        for _ in range(level - 1):
            base = base.parent
        return self._locate(base, module) if module else self._package_file(base)

    def _resolve_absolute(self, search: ImportSearch, module: str, _: int) -> Path | None:
        """Return the file that an absolute import names."""
        if not self._may_hold(search, module.partition(".")[0]):
            return None
        roots = search.roots
        if module.partition(".")[0] == ANALYSED_LIBRARY:
            roots = tuple(root for root in roots if self._package_file(root) is None)
        candidates = (self._locate(root, module) for root in roots)
        return next(
            (
                found
                for found in candidates
                if found is not None and ("." in module or not self._imports_own_name(found))
            ),
            None,
        )

    def module_names_in(self, folder: Path) -> frozenset[str]:
        """Return the names of the modules that may be found in a folder."""
        return self.disk.modules(folder) | self._given_names.get(folder, set())

    def imports_at_most(self, path: Path) -> frozenset[Path]:
        """Return the files of the program that a file may import, at its top level or in its functions, by its text."""
        found = self._imports_at_most.get(path)
        if found is None:
            found = self._imports_at_most[path] = frozenset(self._named_imports(path))
        return found

    def text_imports(self, path: Path) -> frozenset[TextImport]:
        """Return the imports of a file by its text: what it imports at most."""
        found = self._text_imports.get(path)
        if found is None:
            source = self.source(path)
            read = text_imports(source.text) if source is not None else ()
            found = self._text_imports[path] = frozenset(read)
        return found

    def _named_imports(self, path: Path) -> Iterator[Path]:
        """Yield the files that the imports in the text of a file name."""
        search = self._search(path)
        for one in self.text_imports(path):
            package = one.package
            if not one.level and not self._may_hold(search, package):
                continue
            for name in {package, one.module, one.dotted}:
                found = self.resolve_from(path, name, one.level)
                if found is not None:
                    yield found

    def _may_hold(self, search: ImportSearch, name: str) -> bool:
        """Return whether absolute imports that begin with a name may lead to files of the program."""
        held = search.held.get(name)
        if held is None:
            held = search.held[name] = any(self._has_name(root, name) for root in search.roots)
        return held

    def _imports_own_name(self, path: Path) -> bool:
        """Return whether a file imports a module by the name that the file itself has, such as `torch` in `torch.py`.

        Then the name means a library, in this file and in the files beside it: the file is only ever imported as part
        of its package.
        """
        if not any(one.module.partition(".")[0] == path.stem for one in self.text_imports(path)):
            return False
        module = self.load(path)
        bindings = [one for statement in module.index.statements for one in statement.imports] if module else []
        return any(not one.level and one.module.partition(".")[0] == path.stem for one in bindings)

    def _module(self, path: Path, source: Source, index: Callable[[], FileIndex]) -> ModuleInfo:
        """Return the `ModuleInfo` of a file; its dotted name starts at the outermost folder that is a package."""
        parts = [] if path.stem == "__init__" else [path.stem]
        folder = path.parent
        while self._is_file(folder / "__init__.py") and folder != folder.parent:
            parts.insert(0, folder.name)
            folder = folder.parent
        return ModuleInfo(".".join(parts) or path.parent.name, source, path.stem == "__init__", path, index)

    def _search(self, origin: Path) -> ImportSearch:
        """Return the search for the imports of a file, which is the same for all files of its folder."""
        found = self._searches.get(origin)
        if found is None:
            folder = origin.parent
            found = self._searched.get(folder)
            if found is None:
                found = self._searched[folder] = ImportSearch(folder, self._roots_of(folder))
            self._searches[origin] = found
        return found

    def _roots_of(self, folder: Path) -> tuple[Path, ...]:
        """Return the folders in which the search for an absolute import of the files in a folder starts.

        Those are the folder above the files' outermost package, the files' own folder, the `roots`, and the folders
        above the files that hold files to analyse.
        """
        root = folder
        while self._is_file(root / "__init__.py") and root != root.parent:
            root = root.parent
        above = [one for one in (folder, *folder.parents) if one in self._given_names]
        # Namespace packages have no __init__.py: the folders above count where files of the run lie below them.
        return tuple(dict.fromkeys((root, folder, *self._roots, *above[:4])))

    def _locate(self, root: Path, module: str) -> Path | None:
        """Return the path of the file of a dotted module name, looked up below a folder; None if there is none."""
        if not self._has_name(root, module.partition(".")[0]):
            return None
        base = root.joinpath(*module.split("."))
        file = base.with_name(base.name + ".py")
        if self._is_file(file):
            return file
        return self._package_file(base)

    def _has_name(self, folder: Path, name: str) -> bool:
        """Return whether a folder holds a Python file or anything else of a name; the answer is cached."""
        found = self._found_names[folder]
        if name not in found:
            found[name] = (
                name in self._given_names.get(folder, ())
                or self.disk.is_file(folder / f"{name}.py")
                or self.disk.exists(folder / name)
            )
        return found[name]

    def _add_names(self, path: Path) -> None:
        """Add the name of a file to analyse, and those of the folders above it."""
        name = path.stem
        for folder in path.parents:
            names = self._given_names.setdefault(folder, set())
            if name in names:
                break
            names.add(name)
            name = folder.name

    def _package_file(self, folder: Path) -> Path | None:
        """Return the path of the `__init__.py` of a folder; None if there is none."""
        file = folder / "__init__.py"
        return file if self._is_file(file) else None

    def _is_file(self, path: Path) -> bool:
        """Return whether a path is a file, either given to the program or on the disk."""
        return path in self._shown or path in self._modules or self.disk.is_file(path)
