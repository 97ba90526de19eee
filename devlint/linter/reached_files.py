"""The files of an application that no run of it gets to: nothing loads them, or they cannot be imported."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, TypeVar

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.failing_imports import FailingImports
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.private_definitions import is_private_name, is_test_file
from devlint.interpreter.program.program import Program
from devlint.linter.importing_files import ImportingFiles, import_name
from devlint.linter.project_texts import has_project_file, is_installed, project_folder
from devlint.linter.sibling_imports import SiblingImports

MAIN_GUARD: Final = re.compile(r"^if\s+__name__\s*==", re.MULTILINE)
RUNS_NOTHING: Final = re.compile(r"[rR]?[\"']|[\w.]+(?:\[[^\]=]*\])?\s*(?::[^=]+)?=(?!=)")
"""The start of a statement at module level that is a docstring or an assignment, and no work of a script."""
ENTRY_FILES: Final = frozenset({"hubconf", "conftest", "setup"})
"""The names of files whose functions other programs call."""
_COMPUTED_FILE: Final = re.compile(
    r"\b(?:import_module|__import__)\((?!\s*[\"'][\w.]+[\"']\s*\))"
    r"|\b(?:runpy|pkgutil|spec_from_file_location)\b|(?<![\w.])exec\("
    r"|\bimp\.load|\blocate\(|\bload_entry_point\b|\bpydoc\b"
)
"""The ways to load a file by a name that the program computes."""
_FILE_OF_SETTINGS: Final = re.compile(r"\binstantiate\(|\bhydra\b")
"""The ways to load a file by a name that is in settings."""
_PYTHON_FILE: Final = re.compile(r"\.py")
"""The end of the name of a Python file."""
_FOR_OLD_CODE: Final = re.compile(
    r"_*(?:deprecated?|legacy|obsolete|old|original|archived?|unused|attic)_*", re.IGNORECASE
)
"""The names of folders into which projects put code that they no longer use."""
_Key = TypeVar("_Key")


class ReachedFiles:
    """The answers to the question whether a run of an application gets to a file.

    A run starts at a script, at a test, at a notebook, or at a file that others can install or name. `is_named` tells
    whether a text of the project that is no code of the program has a name, `has_word` whether it has a word at all.
    `settings_are_known` tells whether the settings of the project name all files that they have the program load.
    """

    def __init__(
        self,
        program: Program,
        modules: Sequence[ModuleInfo],
        importing: ImportingFiles,
        is_named: Callable[[str], bool],
        has_word: Callable[[str], bool],
        settings_are_known: Callable[[], bool],
    ) -> None:
        self._program = program
        self._modules = modules
        self._importing = importing
        self._is_named = is_named
        self._settings_are_known = settings_are_known
        siblings = SiblingImports(program, modules, has_word)
        self._failing = FailingImports(program, ImportGraph(program), names=True, is_absent=siblings.has)
        self._unnamed_folders: dict[Path, bool] = {}

    def is_reached(self, module: ModuleInfo) -> bool:
        """Return whether a run of the application may get to a file.

        Mostly the file is an entry, or a script loads it. Only otherwise all files of the application are asked.
        """
        if self._may_load(module) and (self._is_entry(module) or self._is_loaded_by_script(module)):
            return True
        return module.path not in self._unreached

    def is_broken(self, module: ModuleInfo) -> bool:
        """Return whether a file cannot be imported."""
        return self._failing.stop(module)

    def can_run(self, module: ModuleInfo) -> bool:
        """Return whether a file can be imported or run at all, in a project of any kind."""
        return self._may_load(module) or module.path not in self._broken

    def is_left_over(self, module: ModuleInfo) -> bool:
        """Return whether nothing can load a file of a package that nobody outside may name, in a project of any kind.

        The name of the file is private, or the file is of another project, of which a package has a copy. Nothing in
        the project names it, and no file beside it loads files by computed names. So is a file that was put away.
        """
        if MAIN_GUARD.search(module.source.text) or (does_work(module) and not _is_only_imported(module)):
            return False
        if self._is_put_away(module):
            return True
        private = is_private_name(module.path.stem) and self._program.disk.is_file(module.path.parent / "__init__.py")
        if not private and not any(map(self._is_copied_project, self._folders_around(module))):
            return False
        if len(self._importing.of_file(module)) > 1 or not self.is_loaded_by_none_beside(module):
            return False
        return not self._is_named(import_name(module))

    def is_loaded_by_none_beside(self, module: ModuleInfo) -> bool:
        """Return whether no file in the folder of a file loads files by computed names."""
        beside = (one for one in self._modules if one.path.parent == module.path.parent)
        return not any(
            _COMPUTED_FILE.search(one.source.text) or _FILE_OF_SETTINGS.search(one.source.text) for one in beside
        )

    def _is_put_away(self, module: ModuleInfo) -> bool:
        """Return whether a file is in a folder for old code that nothing outside of the folder names."""
        if is_test_file(module.path) or module.source.cells is not None:
            return False
        above = self._folders_around(module)
        return any(_FOR_OLD_CODE.fullmatch(one.name) and self._is_unnamed_folder(one) for one in above)

    def _is_copied_project(self, folder: Path) -> bool:
        """Return whether a folder has a project file of its own, and is in a package of the project."""
        disk = self._program.disk
        return has_project_file(folder, disk) and disk.is_file(folder.parent / "__init__.py")

    def _folders_around(self, module: ModuleInfo) -> Sequence[Path]:
        """Return the folders around a file that are inside of the project."""
        return [one for one in module.path.parents if one.is_relative_to(self._project) and one != self._project]

    @cached_property
    def _project(self) -> Path:
        """The folder of the project around the given files."""
        return project_folder(self._program.given_paths, self._program.disk)

    def _is_unnamed_folder(self, folder: Path) -> bool:
        """Return whether no file outside of a folder names the folder, and no other text of the project does."""
        known = self._unnamed_folders.get(folder)
        if known is None:
            name = re.escape(folder.name)
            naming = re.compile(rf"[./\"']{name}\b|\bimport\b.*\b{name}\b|\b{name}[./]")
            outside = (one.source.text for one in self._modules if not one.path.is_relative_to(folder))
            known = not any(folder.name in text and naming.search(text) for text in outside)
            known = self._unnamed_folders[folder] = known and not self._is_named(folder.name)
        return known

    def _is_loaded_by_script(self, module: ModuleInfo) -> bool:
        """Return whether a script imports a file, perhaps through other files, and no import on the way fails."""
        found, pending = {module}, [module]
        while pending:
            for one in self._importing.of_file(pending.pop()):
                if one not in found and self._may_load(one):
                    if MAIN_GUARD.search(one.source.text):
                        return True
                    found.add(one)
                    pending.append(one)
        return False

    @cached_property
    def _unreached(self) -> frozenset[Path]:
        """The files that no run gets to.

        Where most files are not reached, they may be a collection of programs that stand alone: only those count then
        from beside which several scripts load other files.
        """
        entries = [one for one in self._modules if self._is_entry(one)]
        broken = self._broken
        if self._may_compute_files:
            return broken
        reached = self._loaded_from([one for one in entries if one.path not in broken], broken)
        left = {one.path for one in self._modules if one.path not in reached and one.path not in broken}
        parts = [
            one
            for one in self._modules
            if not (one.is_package or self._is_entry(one) or one.path in broken) and _defines_code(one)
        ]
        if 2 * sum(one.path in left for one in parts) > len(parts) > 1:
            left = {one for one in left if one.parent in self._shared_folders}
        return broken | left

    @cached_property
    def _shared_folders(self) -> frozenset[Path]:
        """The folders, other than their own, of which at least two scripts import files."""
        scripts = [one for one in self._modules if MAIN_GUARD.search(one.source.text)]
        used = Counter(
            folder
            for script in scripts
            for folder in {one.path.parent for one in self._importing.imported_by(script)} - {script.path.parent}
        )
        return frozenset(folder for folder, count in used.items() if count > 1)

    def _loaded_from(self, entries: Sequence[ModuleInfo], broken: frozenset[Path]) -> set[Path]:
        """Return the files that some files load, and those that these load."""
        waiting = {one.path: one for one in self._modules if one.path not in broken}
        reached, pending = set[Path](), [*entries]
        for one in entries:
            waiting.pop(one.path, None)
        while pending:
            importer = pending.pop()
            reached.add(importer.path)
            pending += [home for home in self._loaded_by(importer) if waiting.pop(home.path, None) is not None]
        return reached

    def _loaded_by(self, importer: ModuleInfo) -> Iterator[ModuleInfo]:
        """Yield the files that a file loads: the packages around it, what it imports, and files named as `name.py`."""
        yield from (home for folder in importer.path.parents for home in self._packages.get(folder, ()))
        yield from self._importing.imported_by(importer)
        text = importer.source.text
        for found in _PYTHON_FILE.finditer(text):
            end = found.start()
            for length in self._lengths:
                yield from self._homes.get(text[max(0, end - length) : end], ())

    @cached_property
    def _packages(self) -> Mapping[Path, Sequence[ModuleInfo]]:
        """The files that are packages, by their folders."""
        return _grouped((one.path.parent, one) for one in self._modules if one.is_package)

    @cached_property
    def _homes(self) -> Mapping[str, Sequence[ModuleInfo]]:
        """The files by their names without the suffix."""
        return _grouped((one.path.stem, one) for one in self._modules)

    @cached_property
    def _lengths(self) -> frozenset[int]:
        """The lengths of the names of the files."""
        return frozenset(map(len, self._homes))

    def _is_entry(self, module: ModuleInfo) -> bool:
        """Return whether a run may start at a file, by what it does or by who can name it."""
        if (
            is_test_file(module.path)
            or module.path.stem in ENTRY_FILES
            or module.source.cells is not None
            or MAIN_GUARD.search(module.source.text)
            or (not module.is_package and does_work(module))
            or is_installed(module.path, self._program.disk)
        ):
            return True
        return not module.is_package and self._is_named(import_name(module))

    @cached_property
    def _broken(self) -> frozenset[Path]:
        """The files that cannot be imported: they import what fails, or a package has their name."""
        failing = [one for one in self._modules if self._failing.stop(one)]
        guarded = [one for one in self._modules if MAIN_GUARD.search(one.source.text)]
        if all(one in failing for one in guarded or filter(_is_script, self._modules)):
            # A project of which no script runs tells nothing of what its authors run.
            failing = []
        return frozenset(one.path for one in self._modules if one in failing or self._is_shadowed(one))

    def _may_load(self, module: ModuleInfo) -> bool:
        """Return whether nothing is known that keeps a file from being imported."""
        return not self._failing.stop(module) and not self._is_shadowed(module)

    def _is_shadowed(self, module: ModuleInfo) -> bool:
        """Return whether an import of a file's name finds the package beside it, and the file is no script."""
        path = module.path
        if path.suffix != ".py" or not self._program.disk.is_file(path.with_suffix("") / "__init__.py"):
            return False
        return not (_is_script(module) or is_test_file(path) or self._may_compute_files)

    @cached_property
    def _may_compute_files(self) -> bool:
        """Whether the program may load files by names that it computes, or that settings outside of it have."""
        if any(_COMPUTED_FILE.search(one.source.text) for one in self._modules):
            return True
        return (
            any(_FILE_OF_SETTINGS.search(one.source.text) for one in self._modules) and not self._settings_are_known()
        )


def _grouped(pairs: Iterable[tuple[_Key, ModuleInfo]]) -> Mapping[_Key, Sequence[ModuleInfo]]:
    """Return files by the keys that they are given with."""
    found: dict[_Key, list[ModuleInfo]] = defaultdict(list)
    for key, module in pairs:
        found[key].append(module)
    return found


def _is_only_imported(module: ModuleInfo) -> bool:
    """Return whether a file is no script, because it imports what is beside it in its package."""
    return any(one.level for unit in module.index.statements if unit.kind == "import" for one in unit.imports)


def _defines_code(module: ModuleInfo) -> bool:
    """Return whether a file defines functions or classes; settings written as Python do not, and users name them."""
    return any(one.kind in ("function", "class") for one in module.index.statements)


def _is_script(module: ModuleInfo) -> bool:
    """Return whether a file does something when it is run, and is no file that other programs load by its name."""
    if module.is_package or module.path.stem in ENTRY_FILES:
        return False
    return bool(MAIN_GUARD.search(module.source.text)) or module.source.cells is not None or does_work(module)


def does_work(module: ModuleInfo) -> bool:
    """Return whether the top level of a file does more than to define things."""
    definitions = frozenset(module.index.definitions)
    return any(
        one.kind == "other"
        and "__all__" not in one.binds
        and (not RUNS_NOTHING.match(one.text) or bool(one.mentions & definitions))
        for one in module.index.statements
    )
