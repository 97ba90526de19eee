"""The device and dtype that torch gives to what is told none, in the files whose code has changed them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from devlint.domain.dtype import DEFAULT_FLOAT, Dtype
from devlint.domain.placement import Placement
from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program


@dataclass(frozen=True, slots=True)
class FileDefaults:
    """Where factories put things, None for the host, and of which dtype."""

    device: Placement | None = None
    dtype: Dtype = DEFAULT_FLOAT


class TorchDefaults:
    """What programs have set, by the file that runs: other files may belong to other programs."""

    def __init__(self) -> None:
        self.entered: ModuleInfo | None = None
        """The file into which the way being gone leads."""
        self.by_file: dict[Path, FileDefaults] = {}

    def holding_in(self, program: Program, module: ModuleInfo) -> FileDefaults:
        """What holds where somebody calls a file's code: what the file has set, or one that it imports."""
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
