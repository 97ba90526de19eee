"""The analysed program: its files by path, and the resolution of imports between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.disk_reads import DiskReads
from devlint.syntax.index import FileIndex, index_source
from devlint.syntax.source import SourceError
from devlint.syntax.source_reading import decode_source, read_source, shown_name


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
    ) -> None:
        """Create a program from the files to analyse.

        `files` pairs each path with the filename to show to the user. `roots` are further folders from which absolute
        imports may start. `texts` replace the contents of the files at these paths. `index`, if given, is called with
        the path and the filename of a file and returns its index (its top-level statements); it raises SourceError for
        a file that cannot be indexed.
        """
        self._texts = {path.resolve(): data for path, data in texts.items()}
        self._index = index or self._index_text
        self._shown = {path.resolve(): name for path, name in files}
        self._folders = {folder for path in self._shown for folder in path.parents}
        self._roots = [root.resolve() for root in roots]
        self.broken_files: dict[Path, tuple[str, SourceError]] = {}
        """The filenames of the files of `files` that cannot be read or parsed, with the errors that say why."""
        self._modules: dict[Path, ModuleInfo | None] = {}
        self._resolved: dict[tuple[Path, str], Path | None] = {}
        self._names: dict[Path, frozenset[str]] = {}
        self.disk = DiskReads()

    @property
    def given_paths(self) -> list[Path]:
        """Return the paths of the files that the user named, sorted."""
        return sorted(self._shown)

    @property
    def read_files(self) -> Mapping[Path, str]:
        """Return the files that were read so far, with the names under which they are shown."""
        return {path: self.name_of(path) for path in self._modules}

    def name_of(self, path: Path) -> str:
        """Return the filename under which a file is shown to the user."""
        return self._shown.get(path) or shown_name(path)

    def text_bytes(self, path: Path) -> bytes:
        """Return the content of a file, given to the program or on the disk; empty if it cannot be read."""
        try:
            return self._texts.get(path) or path.read_bytes()
        except OSError:
            return b""

    def is_given(self, filename: str) -> bool:
        """Return whether a filename is that of a file which the user named."""
        return filename in self._shown.values()

    def add(self, path: Path, index: FileIndex) -> None:
        """Add a file to the program whose text is given by the caller and not read from the disk."""
        path = path.resolve()
        self._shown.setdefault(path, index.source.filename)
        self._folders.update(path.parents)
        self._modules[path] = self._module(path, index)

    def load(self, path: Path) -> ModuleInfo | None:
        """Return the module of a file; None when the file cannot be read or parsed.

        For a file that the user named, the error is recorded.
        """
        if path not in self._modules:
            name = self._shown.get(path)
            try:
                self._modules[path] = self._module(path, self._index(path, name or shown_name(path)))
            except SourceError as error:
                self._modules[path] = None
                if name is not None:
                    self.broken_files[path] = name, error
        return self._modules[path]

    def _index_text(self, path: Path, name: str) -> FileIndex:
        """Return the index of a file: its top-level statements and the names they bind.

        The file's text is the one given to the program, if any, otherwise the one on the disk.
        """
        data = self._texts.get(path)
        return index_source(decode_source(data, name) if data is not None else read_source(path, name))

    def by_filename(self, filename: str) -> ModuleInfo | None:
        """Return the loaded module whose file is shown to the user under a filename; None if there is none."""
        return next((one for one in self._modules.values() if one is not None and one.filename == filename), None)

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
        origin = importer.path
        if level:
            relative = (origin.parent, "." * level + module)
            if relative not in self._resolved:
                base = origin.parent
                for _ in range(level - 1):
                    base = base.parent
                self._resolved[relative] = self._locate(base, module) if module else self._package_file(base)
            return self._resolved[relative]
        key = (origin.parent, module)
        if key not in self._resolved:
            candidates = (self._locate(root, module) for root in self._search(origin))
            self._resolved[key] = next(
                (
                    found
                    for found in candidates
                    if found is not None and ("." in module or not self._imports_own_name(found))
                ),
                None,
            )
        return self._resolved[key]

    def module_names_in(self, folder: Path) -> frozenset[str]:
        """Return the names of the modules that may be found in a folder."""
        if folder not in self._names:
            given = (path.name for path in self._shown if path.parent == folder)
            self._names[folder] = self.disk.modules(folder) | {name.removesuffix(".py") for name in given}
        return self._names[folder]

    def _imports_own_name(self, path: Path) -> bool:
        """Return whether a file imports a module by the name that the file itself has, such as `torch` in `torch.py`.

        Then the name means a library, in this file and in the files beside it: the file is only ever imported as part
        of its package.
        """
        module = self.load(path)
        bindings = [one for statement in module.index.statements for one in statement.imports] if module else []
        return any(not one.level and one.module.partition(".")[0] == path.stem for one in bindings)

    def _module(self, path: Path, index: FileIndex) -> ModuleInfo:
        """Return the `ModuleInfo` of a file; its dotted name starts at the outermost folder that is a package."""
        parts = [] if path.stem == "__init__" else [path.stem]
        folder = path.parent
        while self._is_file(folder / "__init__.py") and folder != folder.parent:
            parts.insert(0, folder.name)
            folder = folder.parent
        return ModuleInfo(".".join(parts) or path.parent.name, index, path.stem == "__init__", path)

    def _search(self, origin: Path) -> list[Path]:
        """Return the folders in which the search for an absolute import of a file starts.

        Those are the folder above the file's outermost package, the file's own folder, the `roots`, and the folders
        above the file that hold files to analyse.
        """
        root = origin.parent
        while self._is_file(root / "__init__.py") and root != root.parent:
            root = root.parent
        above = [folder for folder in origin.parents if folder in self._folders]
        found = [root, origin.parent, *self._roots]
        # Namespace packages have no __init__.py: the folders above count where files of the run lie below them.
        found += above[:4]
        return list(dict.fromkeys(found))

    def _locate(self, root: Path, module: str) -> Path | None:
        """Return the path of the file of a dotted module name, looked up below a folder; None if there is none."""
        base = root.joinpath(*module.split("."))
        file = base.with_name(base.name + ".py")
        if self._is_file(file):
            return file
        return self._package_file(base)

    def _package_file(self, folder: Path) -> Path | None:
        """Return the path of the `__init__.py` of a folder; None if there is none."""
        file = folder / "__init__.py"
        return file if self._is_file(file) else None

    def _is_file(self, path: Path) -> bool:
        """Return whether a path is a file, either given to the program or on the disk."""
        return path in self._shown or path in self._modules or self.disk.is_file(path)
