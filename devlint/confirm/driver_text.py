"""Drivers as text: small programs that build what a finding is about and call it on an accelerator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from devlint.confirm.arguments import CALLING, MAKING, Arguments, call_text, imports_of
from devlint.confirm.source_files import Entry


@dataclass(frozen=True, slots=True)
class CallDriver:
    """A driver that imports an entry and calls it with some arguments.

    `folder` is put on Python's path and `module` imported from it. The instance of a method is built first. With
    `moves` a module of torch (`is_module`) is then moved, and tensors are made on the accelerator; without it nothing
    is there but what the code itself moves. A module whose `forward` is called is called itself, as programs do. The
    `__init__.py` of the outermost `bare` packages around the file is not run, since it may need what is not there.
    With `rows`, only the statements of the file that begin there are executed: those that the entry needs.
    """

    entry: Entry
    method: str
    folder: Path
    module: str
    arguments: Arguments
    is_module: bool
    moves: bool
    device: str = "cuda"
    bare: int = 0
    rows: tuple[int, ...] = ()

    def text(self, root: Path, elsewhere: Path) -> str:
        """Return the program; `elsewhere` is the copy of the folder `root` from which it imports the project."""
        folder = elsewhere / self.folder.relative_to(root)
        lines = [
            *(("import ast",) if self.rows else ()),
            "import sys",
            *(("import types",) if self.bare or self.rows else ()),
            *(("from pathlib import Path",) if self.rows else ()),
            "",
            "import torch",
            "",
            f"sys.path[:0] = {_folders(folder, elsewhere)!r}",
            *(_bare_packages(folder, self.module, self.bare) if self.bare else ()),
            *imports_of(self.arguments),
            *(self._part_of_file(folder) if self.rows else (f"from {self.module} import {self._imported}",)),
            "",
            f'device = torch.device("{self.device}")',
            "torch.manual_seed(0)",
            *self._calls(),
        ]
        return "\n".join(lines) + "\n"

    def _part_of_file(self, folder: Path) -> Sequence[str]:
        """Return the lines that execute what the entry needs of its file, as a module of the file's name."""
        path = str(folder.joinpath(*self.module.split("."))) + ".py"
        return [
            f"# What {self._imported} needs of its file; the rest may import what is not there.",
            f'part = sys.modules["{self.module}"] = types.ModuleType("{self.module}")',
            f'part.__file__, part.__package__ = {path!r}, "{self.module.rpartition(".")[0]}"',
            'tree = ast.parse(Path(part.__file__).read_text(encoding="utf-8"))',
            f"tree.body = [node for node in tree.body if node.lineno in {self.rows!r}]",
            'exec(compile(tree, part.__file__, "exec"), vars(part))',
            f"{self._imported} = part.{self._imported}",
        ]

    @property
    def _imported(self) -> str:
        return self.entry.owner.name if self.entry.owner else self.entry.function.name

    def _calls(self) -> Sequence[str]:
        """Return the lines that build and call."""
        given = self._placed(call_text(self.arguments, CALLING))
        if self.entry.owner is None:
            return [f"{self._imported}({given})"]
        made = f"{self._imported}({self._placed(call_text(self.arguments, MAKING))})"
        moved = f"{made}.to(device)" if self.is_module and self.moves else made
        called = "made" if self.method == "forward" and self.is_module else f"made.{self.method}"
        return [f"made = {moved}", f"{called}({given})"]

    def _placed(self, text: str) -> str:
        """Return the text of arguments with tensors on the accelerator, or on the host if the driver moves nothing."""
        return text if self.moves else text.replace(", device=device)", ")")


def _folders(folder: Path, root: Path) -> list[str]:
    """Return the folders that Python searches for modules: the one of the import, and the project's own."""
    return list(dict.fromkeys([str(folder), str(root)]))


def _bare_packages(folder: Path, module: str, count: int) -> Sequence[str]:
    """Return the lines that put the outermost packages around a module into Python's table of modules, empty."""
    names = module.split(".")[:-1][:count]
    packages = {".".join(names[: index + 1]): str(folder.joinpath(*names[: index + 1])) for index in range(len(names))}
    return [
        f"for name, place in {packages!r}.items():",
        "    sys.modules[name] = types.ModuleType(name)",
        "    sys.modules[name].__path__ = [place]",
    ]


def short_text(program: str) -> str:
    """Return the last part of a driver, without the imports that every driver has: what a report shows."""
    lines = program.splitlines()
    start = next((index for index, line in enumerate(lines) if line.startswith("torch.manual_seed")), -1)
    return "\n".join(lines[start + 1 :])
