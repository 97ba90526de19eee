"""The defaults that a program sets: devices and dtypes of new tensors, by file, and how processes are started."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Final

from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.domain.record import record, replace
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program

SETTERS: Final = frozenset({"set_default_device", "set_default_tensor_type"})
"""The functions of torch that set the default device of new tensors."""
_SETS_DEVICE: Final = re.compile(
    r"\bset_default_device\b(?!\(\s*[\"']cpu)|\bset_default_tensor_type\b(?!\(\s*[\"']?(?:torch|th)\.(?!cuda\b))"
)
"""A setter that is not called with the host, or with a tensor type of the host."""
START_METHOD_SETTERS: Final = frozenset({"set_start_method"})
"""The function of `multiprocessing` that chooses how processes are started."""
DTYPE_SETTERS: Final = frozenset({"set_default_dtype"})
"""The functions of torch that set the default dtype alone."""


@record(frozen=True, slots=True)
class FileDefaults:
    """The default device and dtype for new tensors that one file of the program has set.

    `device` is None for the host.
    """

    device: Placement | None = None
    dtype: Dtype = DEFAULT_FLOAT


class DefaultSetters:
    """The files of the program that set the default device, and the files that they import.

    `packages` are the packages of others that set it when they are imported, and `starters` those that choose then how
    processes are started.
    """

    def __init__(
        self, program: Program, imports: ImportGraph, packages: frozenset[str], starters: frozenset[str]
    ) -> None:
        self._program = program
        self.imports = imports
        self._packages = packages
        self._start_method_names = START_METHOD_SETTERS | starters

    @cached_property
    def imported_files(self) -> frozenset[Path]:
        """The files whose functions may be called while another device is the default, so that it is unknown there.

        They are those that import a file which sets one, and what these and that file import, directly or not.
        """
        loaded = {path: self._program.load(path) for path in self._program.paths_of_interest}
        setters = {path for path, module in loaded.items() if module is not None and _may_set_device(module)}
        importers = {one for path in setters for one in self.imports.importers_of(path)}
        for path in self._files_with_package:
            setters |= {path, *self.imports.importers_of(path)}
        return self.imports.reached_from(setters | importers) | importers

    def may_import_setting_package(self, module: ModuleInfo) -> bool:
        """Return whether a file, or one that it imports, uses a package that sets the default device on its import."""
        users = self._files_with_package
        return bool(users) and (module.path in users or not users.isdisjoint(self.imports.reached_by(module.path)))

    def is_setting_package(self, name: str) -> bool:
        """Return whether a dotted name is inside a package that sets the default device when it is imported."""
        return name.partition(".")[0] in self._packages

    @cached_property
    def _files_with_package(self) -> frozenset[Path]:
        """The files that name a package which sets the default device when it is imported."""
        loaded = {path: self._program.load(path) for path in self._files_naming(self._packages)}
        return frozenset(
            path for path, module in loaded.items() if module is not None and _mentions(module, self._packages)
        )

    def _files_naming(self, names: frozenset[str]) -> tuple[Path, ...]:
        """Return the files of the program whose text holds any of some names."""
        return self.imports.files_whose_text(lambda text: any(name in text for name in names))

    def may_set_start_method(self, module: ModuleInfo) -> bool:
        """Return whether a program that runs a file may choose how it starts processes.

        The file, one that it imports, or one that imports it then mentions the function that chooses, or a package
        that chooses when it is imported.
        """
        choosing = self._start_method_files
        if not choosing:
            return False
        return module.path in self.imports.reached_from(choosing) | choosing or not choosing.isdisjoint(
            self.imports.reached_by(module.path)
        )

    @cached_property
    def _start_method_files(self) -> frozenset[Path]:
        """The files that mention what chooses how processes are started: the function, or a package."""
        names = self._start_method_names
        loaded = {path: self._program.load(path) for path in self._files_naming(names)}
        return frozenset(path for path, module in loaded.items() if module is not None and _mentions(module, names))

    def imported_by(self, start: ModuleInfo) -> list[ModuleInfo]:
        """Return the files that set a default when a file imports them, directly or not."""
        reached = self.imports.reached_by(start.path) if self._set_on_import else ()
        return [module for path, module in self._set_on_import.items() if path in reached and module is not start]

    @cached_property
    def _set_on_import(self) -> dict[Path, ModuleInfo]:
        """The files whose top level sets the default device or dtype."""
        loaded = {path: self._program.load(path) for path in self._files_naming(SETTERS | DTYPE_SETTERS)}
        return {path: module for path, module in loaded.items() if module is not None and _sets_on_import(module)}


def _may_set_device(module: ModuleInfo) -> bool:
    """Return whether the code of a file sets the default device, perhaps to another one than the host."""
    return any(
        not SETTERS.isdisjoint(unit.mentions) and _SETS_DEVICE.search(unit.text) for unit in module.index.statements
    )


class TorchDefaults:
    """The default devices and dtypes that the analysed program sets, by file.

    They are kept per file, since files that are analysed together may belong to different programs.
    """

    def __init__(self, setters: DefaultSetters) -> None:
        self._setters = setters
        self.entry_module: ModuleInfo | None = None
        """The file whose entry point is being analysed."""
        self.by_file: dict[Path, FileDefaults] = {}

    def defaults_for(self, module: ModuleInfo) -> FileDefaults:
        """Return the default device and dtype in force when a module's code is called.

        Those are the defaults that the module's file has set, otherwise those of a file that it imports. The device is
        unknown if a file that imports the module sets it. Otherwise the defaults are torch's own.
        """
        found = self.by_file.get(module.path)
        if found is None and self.by_file:
            imports = self._setters.imports.imports(module)
            found = next((self.by_file[one] for one in imports if one in self.by_file), self.set_by_imports(module))
        if found is None and module.path in self._setters.imported_files:
            return FileDefaults(UNKNOWN_PLACEMENT)
        return self._after_imports(module, found or FileDefaults())

    def _after_imports(self, module: ModuleInfo, defaults: FileDefaults) -> FileDefaults:
        """Return the defaults of a file, with an unknown device where a package that it imports may have set one."""
        if defaults.device is None and self._setters.may_import_setting_package(module):
            return replace(defaults, device=UNKNOWN_PLACEMENT)
        return defaults

    def set_by_imports(self, module: ModuleInfo) -> FileDefaults | None:
        """Return the defaults that the files which a module imports, directly or not, have set at their top level.

        None if no such file has been run. The device is unknown if a package that they import may set it.
        """
        setters = self._setters.imported_by(module) if self.by_file else ()
        found = next((self.by_file[one.path] for one in setters if one.path in self.by_file), None)
        if found is None and not self._setters.may_import_setting_package(module):
            return None
        return self._after_imports(module, found or FileDefaults())


def _mentions(module: ModuleInfo, names: frozenset[str]) -> bool:
    """Return whether a file mentions any of some functions."""
    return any(names & unit.mentions for unit in module.index.statements)


def _sets_on_import(module: ModuleInfo) -> bool:
    """Return whether the top level of a file mentions a function that sets a default, outside definitions."""
    return any(
        (SETTERS | DTYPE_SETTERS) & unit.mentions and unit.kind == "other" and "__name__" not in unit.mentions
        for unit in module.index.statements
    )
