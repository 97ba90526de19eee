"""The top-level statements from which code that concerns tensors can be reached, told by names, imports and texts."""

from __future__ import annotations

import re
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.interpreter.program.statement_reads import LocatedStatement, StatementReads
from devlint.interpreter.program.tensor_files import TensorLibraries, uses_as_tensor
from devlint.interpreter.program.usage_evidence import TENSOR_ONLY
from devlint.syntax.index import Statement

_SETTINGS: Final = re.compile(r"device|dtype", re.IGNORECASE)
"""What a program may store for code that concerns tensors."""
_UNNAMED: Final = re.compile(
    r"regist|\b(?:globals|locals|eval|exec|__import__|import_module)\(|\b(?:getattr|vars)\(\s*(?P<owner>\w+)",
    re.IGNORECASE,
)
"""The ways to reach code that a text does not name: registries, computed imports and attributes of modules."""


class TensorReach:
    """The answers to the question whether a top-level statement can reach code that concerns tensors.

    Such code mentions one of the libraries that make tensors, `libraries`, or uses what it is given as a tensor.
    """

    def __init__(self, program: Program, libraries: TensorLibraries) -> None:
        self._program = program
        self._libraries = libraries
        self.reads = StatementReads(self._find)
        self._known: dict[Statement, bool] = {}

    def reaches_tensors(self, module: ModuleInfo, statement: Statement) -> bool:
        """Return whether a statement concerns tensors, or anything that it names, directly or through others."""
        if statement in self._known:
            return self._known[statement]
        waiting: list[LocatedStatement] = [(module, statement)]
        seen = {statement}
        while waiting:
            home, one = waiting.pop()
            if self._known.get(one) or self._concerns_tensors(home, one):
                self._known[statement] = self._known[one] = True
                return True
            for site in self.reads.direct_reads(home, one):
                if site[1] not in seen and self._known.get(site[1]) is not False:
                    seen.add(site[1])
                    waiting.append(site)
        self._known.update(dict.fromkeys(seen, False))
        return False

    def _concerns_tensors(self, module: ModuleInfo, statement: Statement) -> bool:
        """Return whether a statement itself may make, move or cast a tensor, or reach code that it does not name."""
        text = statement.text
        if statement.kind == "import":
            return self._libraries.are_mentioned(text)
        if not statement.mentions.isdisjoint(TENSOR_ONLY):
            return True
        if self._libraries.are_mentioned(text) or uses_as_tensor(text) or _SETTINGS.search(text):
            return True
        return any(found["owner"] is None or _imports(module, found["owner"]) for found in _UNNAMED.finditer(text))

    def _find(self, importer: ModuleInfo, name: str, level: int) -> ModuleInfo | None:
        """Return the module that an import names; None for one in which no tensor can occur."""
        path = self._program.resolve(importer, name, level)
        return self._program.load(path) if path is not None and not self._program.is_set_aside(path) else None


def _imports(module: ModuleInfo, name: str) -> bool:
    """Return whether a file imports a name."""
    return any(binding.name == name for unit in module.index.statements for binding in unit.imports)
