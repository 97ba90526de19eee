"""Datasets and transforms that put data on a device themselves: their loaders need not yield host tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Binding, Statement

_PLACES: Final = re.compile(
    r"\.(?:cuda|xpu)\(|\.to\(\s*(?!torch\.(?!device)|dtype\b|[\"']cpu)|\bdevice=(?![=\s]|[\"']cpu|None\b)"
)
"""A transfer, or a device that a call names, other than the host."""
_HAS_ITEMS: Final = re.compile(r"\bdef __getitem__\b")
"""The method by which a loader takes the items of a dataset."""

_TRANSFORMS: Final = re.compile(r"\bdef __call__\(\s*self,\s*\w+\s*(?::[^,()=]+)?,?\s*\)")
"""The method of an object that is called with one sample."""
_OF_LIBRARIES: Final = re.compile(r"\bToDeviced?\(")
"""A transform of PyTorch Geometric or MONAI that moves each item of a dataset."""


class PlacedDatasets:
    """The datasets and transforms of the program whose own code, or what it uses, may put data on an accelerator.

    `asked` are the questions of `are_around` with their answers: the file, and whether transforms alone count.
    """

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._by_class: dict[Statement, bool] = {}
        self._by_file: dict[tuple[Path, bool], bool] = {}
        self._around: dict[tuple[Path, bool], bool] = {}
        self.asked: dict[tuple[Path, bool], bool] = {}

    def may_place(self, module: ModuleInfo, unit: Statement) -> bool:
        """Return whether a class of a file, or what it uses of the program, may put data on an accelerator."""
        if unit not in self._by_class:
            self._by_class[unit] = any(_PLACES.search(one.text) for one in self._used_by(module, unit))
        return self._by_class[unit]

    def are_around(self, module: ModuleInfo, *, transforms_only: bool = False) -> bool:
        """Return whether a dataset or transform that places its data may reach a file.

        It is defined in the file, in a file that imports it, or in what one of these files imports. With
        `transforms_only`, datasets do not count.
        """
        question = module.path, transforms_only
        if question not in self._around:
            near = {module.path, *self._imports.importers_of(module.path)}
            files = near | self._imports.reached_from(near)
            self._around[question] = any(self._is_in(path, transforms_only) for path in sorted(files))
        self.asked[question] = self._around[question]
        return self._around[question]

    def _is_in(self, path: Path, transforms_only: bool) -> bool:
        """Return whether a file defines a dataset or transform that places its data, or gives one to a dataset."""
        if (path, transforms_only) not in self._by_file:
            module = self._program.load(path)
            units = module.index.statements if module is not None else ()
            makers = [one for one in units if _is_transform(one) or (_is_dataset(one) and not transforms_only)]
            self._by_file[path, transforms_only] = module is not None and (
                any(self.may_place(module, one) for one in makers)
                or _OF_LIBRARIES.search(module.source.text) is not None
            )
        return self._by_file[path, transforms_only]

    def _used_by(self, module: ModuleInfo, unit: Statement) -> Iterator[Statement]:
        """Yield a definition, and the program's functions and classes that it mentions, directly or through others."""
        seen = {unit}
        waiting = [(module, unit)]
        while waiting:
            home, one = waiting.pop()
            yield one
            for found in self._mentioned(home, one):
                if found[1] not in seen:
                    seen.add(found[1])
                    waiting.append(found)

    def _mentioned(self, module: ModuleInfo, unit: Statement) -> Iterator[tuple[ModuleInfo, Statement]]:
        """Yield the functions and classes of the program that a definition mentions, with their files."""
        for other in module.index.statements:
            if other.name in unit.mentions:
                yield module, other
            for binding in other.imports:
                if binding.name in unit.mentions or binding.name == "*":
                    yield from self._imported(module, binding, unit.mentions)

    def _imported(
        self, module: ModuleInfo, binding: Binding, mentions: frozenset[str]
    ) -> Iterator[tuple[ModuleInfo, Statement]]:
        """Yield the definitions that an import makes available to code that mentions some names."""
        home = self._program.find(module, binding.module, binding.level)
        for one in home.index.statements if home is not None else ():
            wanted = one.name == binding.attribute if binding.attribute not in (None, "*") else one.name in mentions
            if home is not None and one.name is not None and wanted:
                yield home, one


def _is_transform(unit: Statement) -> bool:
    """Return whether a statement defines a class of transforms: its objects are called with one sample."""
    return unit.kind == "class" and "Module" not in unit.mentions and _TRANSFORMS.search(unit.text) is not None


def _is_dataset(unit: Statement) -> bool:
    """Return whether a statement defines a class of datasets: by the name of a base, or by its items."""
    if unit.kind != "class":
        return False
    return any(one.endswith("Dataset") for one in unit.bases) or _HAS_ITEMS.search(unit.text) is not None
