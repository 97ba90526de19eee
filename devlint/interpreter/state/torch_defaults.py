"""The default devices and dtypes that a program sets (`torch.set_default_device`), by file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program

SETTERS: Final = frozenset({"set_default_device", "set_default_tensor_type"})
"""The functions of torch that set the default device of new tensors."""


@dataclass(frozen=True, slots=True)
class FileDefaults:
    """The default device and dtype for new tensors that one file of the program has set.

    `device` is None for the host.
    """

    device: Placement | None = None
    dtype: Dtype = DEFAULT_FLOAT


class TorchDefaults:
    """The default devices and dtypes that the analysed program sets, by file.

    They are kept per file, since files that are analysed together may belong to different programs.
    """

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self.entry_module: ModuleInfo | None = None
        """The file whose entry point is being analysed."""
        self.by_file: dict[Path, FileDefaults] = {}
        self._imported_by_setters: frozenset[Path] | None = None

    def defaults_for(self, module: ModuleInfo) -> FileDefaults:
        """Return the default device and dtype in force when a module's code is called.

        Those are the defaults that the module's file has set, otherwise those of a file that it imports. The device is
        unknown if a file that imports the module sets it. Otherwise the defaults are torch's own.
        """
        found = self.by_file.get(module.path)
        if found is None and self.by_file:
            found = next((self.by_file[one] for one in self._imports.imports(module) if one in self.by_file), None)
        if found is None and module.path in self._files_imported_by_setters():
            return FileDefaults(UNKNOWN_PLACEMENT)
        return found or FileDefaults()

    def _files_imported_by_setters(self) -> frozenset[Path]:
        """Return the files that a file which sets the default device imports, directly or through other files.

        The functions of these files are called while that device is the default, so it is unknown there.
        """
        if self._imported_by_setters is None:
            loaded = {path: self._program.load(path) for path in self._program.paths_of_interest}
            setters = [path for path, module in loaded.items() if module is not None and _may_set_defaults(module)]
            self._imported_by_setters = self._imports.reached_from(setters)
        return self._imported_by_setters


def _may_set_defaults(module: ModuleInfo) -> bool:
    """Return whether a file mentions a function that sets the default device of new tensors."""
    return any(SETTERS & unit.mentions for unit in module.index.statements)
