"""The default devices and dtypes that a program sets (`torch.set_default_device`), by file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.placement import Placement
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program


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

    def defaults_for(self, program: Program, module: ModuleInfo) -> FileDefaults:
        """Return the default device and dtype in force when a module's code is called.

        Those are the defaults that the module's file has set, otherwise those of a file that it imports, otherwise
        torch's own.
        """
        found = self.by_file.get(module.path)
        if found is not None or not self.by_file:
            return found or FileDefaults()
        for unit in module.index.statements:
            for one in unit.imports:
                for name in (one.module, f"{one.module}.{one.attribute}"):
                    path = program.resolve(module, name.strip("."), one.level)
                    if path in self.by_file:
                        return self.by_file[path]
        return FileDefaults()
