"""Code that does no work in its project: what a rule says there of cost or of portability is an information."""

from __future__ import annotations

from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.project_texts import is_copied
from devlint.linter.reached_files import MAIN_GUARD
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unnamed_functions import UnnamedFunctions
from devlint.linter.unread_values import UnreadValues
from devlint.syntax.own_paths import has_own_path

_COSTS: Final = "DEV4"
"""The family of the rules about cost."""
_ASYNCHRONOUS: Final = "DEV5"
"""The family of the rules about asynchronous execution: of what runs while the program goes on, and is timed wrong."""
_PORTABILITY: Final = "DEV6"
"""The family of the rules about what ties code to one backend, which nobody misses in code that never runs."""


class IdleCode:
    """The answers to the question whether nobody needs to know what a rule says of the code at a row of a file."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions, unread: UnreadValues) -> None:
        self._program = program
        self._uncalled = uncalled
        self._unnamed = UnnamedFunctions(program, uncalled)
        self._unread = unread

    def informs(self, code: str, module: ModuleInfo, row: int) -> bool:
        """Return whether a rule only informs at a row: what never runs costs nothing, and nobody has to port it.

        A copy of another project is ported there.
        """
        family = code[: len(_COSTS)]
        if family not in (_COSTS, _ASYNCHRONOUS, _PORTABILITY):
            return False
        if self._uncalled.cannot_be_imported(module) or self._unnamed.is_one_at(module, row):
            return True
        if self._uncalled.serves_nothing(module, row):
            return True
        if family != _PORTABILITY:
            return family == _ASYNCHRONOUS and self._unread.is_kept_at(module, row)
        return self._unread.is_harmless_at(module, row) or self._is_copied(module) or self._is_trial(module, row)

    def _is_copied(self, module: ModuleInfo) -> bool:
        """Return whether a file is part of a copy of another project."""
        return is_copied(module.path, self._program.given_paths, self._program.disk)

    def _is_trial(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row is in the trial at the end of a file for others, which reads files of its author."""
        unit = module.index.statement_at(row)
        if unit is None or not MAIN_GUARD.match(unit.text) or not has_own_path(unit.text):
            return False
        return len(self._uncalled.importing.of_file(module)) > 1
