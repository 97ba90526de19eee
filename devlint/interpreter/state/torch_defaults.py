"""The default devices and dtypes that a program sets (`torch.set_default_device`), by file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.placement import UNKNOWN_PLACEMENT, Placement
from devlint.interpreter.program.definitions import ModuleInfo
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

    def __init__(self) -> None:
        self.entry_module: ModuleInfo | None = None
        """The file whose entry point is being analysed."""
        self.by_file: dict[Path, FileDefaults] = {}
        self._imported_by_setters: frozenset[Path] | None = None

    def defaults_for(self, program: Program, module: ModuleInfo) -> FileDefaults:
        """Return the default device and dtype in force when a module's code is called.

        Those are the defaults that the module's file has set, otherwise those of a file that it imports. The device is
        unknown if a file that imports the module sets it. Otherwise the defaults are torch's own.
        """
        found = self.by_file.get(module.path)
        if found is None and self.by_file:
            found = next((self.by_file[one] for one in _imports(program, module) if one in self.by_file), None)
        if found is None and module.path in self._files_imported_by_setters(program):
            return FileDefaults(UNKNOWN_PLACEMENT)
        return found or FileDefaults()

    def _files_imported_by_setters(self, program: Program) -> frozenset[Path]:
        """Return the files that a file which sets the default device imports, directly or through other files.

        The functions of these files are called while that device is the default, so it is unknown there.
        """
        if self._imported_by_setters is None:
            given = [module for path in program.given_paths if (module := program.load(path)) is not None]
            pending = [one for one in given if any(SETTERS & unit.mentions for unit in one.index.statements)]
            reached: set[Path] = set()
            while pending:
                for path in _imports(program, pending.pop()):
                    module = program.load(path) if path not in reached else None
                    reached.add(path)
                    if module is not None:
                        pending.append(module)
            self._imported_by_setters = frozenset(reached)
        return self._imported_by_setters


def _imports(program: Program, module: ModuleInfo) -> Iterator[Path]:
    """Yield the files of the program that a file imports at its top level."""
    for unit in module.index.statements:
        for one in unit.imports:
            for name in (one.module, f"{one.module}.{one.attribute}"):
                path = program.resolve(module, name.strip("."), one.level)
                if path is not None:
                    yield path
