"""Code that does no work in its project: what a rule says there of cost or of portability is an information."""

from __future__ import annotations

import re
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.linter.reached_files import MAIN_GUARD
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unnamed_functions import UnnamedFunctions

_COSTS: Final = "DEV4"
"""The family of the rules about cost."""
_TIED_TO_CUDA: Final = "DEV605"
"""The rule about names for CUDA, which informs of what nobody misses on another accelerator."""
_OWN_PATH: Final = re.compile(r"""["'](?:/(?:home|Users|root|mnt|media|future|scratch|work)/|[A-Z]:[\\/])[\w.-]""")
"""The start of a text that is a path on the machine of who wrote it."""


class IdleCode:
    """The answers to the question whether nobody needs to know what a rule says of the code at a row of a file."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._uncalled = uncalled
        self._unnamed = UnnamedFunctions(program, uncalled)

    def informs(self, code: str, module: ModuleInfo, row: int) -> bool:
        """Return whether a rule only informs at a row: what never runs costs nothing, and nobody has to port it."""
        if code.startswith(_COSTS):
            return self._uncalled.serves_nothing(module, row)
        if code != _TIED_TO_CUDA:
            return False
        if self._uncalled.cannot_be_imported(module) or self._unnamed.is_one_at(module, row):
            return True
        return self._is_trial(module, row)

    def _is_trial(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row is in the trial at the end of a file for others, which reads files of its author."""
        unit = module.index.statement_at(row)
        if unit is None or not MAIN_GUARD.match(unit.text) or _OWN_PATH.search(unit.text) is None:
            return False
        return len(self._uncalled.importing.of_file(module)) > 1
