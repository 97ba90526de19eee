"""Files for which `torch.cuda` is another module: their package imports what puts another accelerator in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program

_REDIRECTING: Final = ("mindspeed", "torch_npu.contrib")
"""The modules whose import redirects all of `torch.cuda`, as do those below them."""


class ShimmedFiles:
    """The files of a program whose package, or one around it, redirects `torch.cuda` when it is imported."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[Path, bool] = {}

    def has(self, module: ModuleInfo) -> bool:
        """Return whether a file, or a package around it, imports what redirects `torch.cuda`."""
        return _redirects(module) or self._is_redirected_around(module.path)

    def _is_redirected_around(self, path: Path) -> bool:
        """Return whether a package around a file redirects `torch.cuda`."""
        package = path.parent / "__init__.py"
        if package == path:
            package = path.parents[1] / "__init__.py"
        if package not in self._known:
            found = self._program.load(package) if self._program.disk.is_file(package) else None
            self._known[package] = found is not None and (_redirects(found) or self._is_redirected_around(package))
        return self._known[package]


def _redirects(module: ModuleInfo) -> bool:
    """Return whether a file imports a module that redirects `torch.cuda`."""
    imports = (one for unit in module.index.statements for one in unit.imports)
    loaded = (f"{one.loads or one.module}." for one in imports if not one.level)
    return any(name.startswith(f"{root}.") for name in loaded for root in _REDIRECTING)
