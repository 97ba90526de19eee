"""Programs in which each launch on CUDA waits until it is done: those that set `CUDA_LAUNCH_BLOCKING`."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.private_definitions import is_test_file

_SETS: Final = re.compile(
    r"""^[^#\n]*(?:
        (?<!get\()(?<!getenv\()["']CUDA_LAUNCH_BLOCKING["']\s*\]?\s*(?:=(?!=)|,|:)
        | \bCUDA_LAUNCH_BLOCKING\s*=(?=\s*["'])
    )(?!\s*["']?(?:0["']?|["'])\s*(?:$|[)},;\#]))""",
    re.MULTILINE | re.VERBOSE,
)
"""Code that sets the variable to anything but `"0"` and the empty text: by an item or a keyword."""


class BlockingLaunches:
    """The files of programs that make launches wait: those that say so, those that import these, and what they import.

    What only tests say does not count.
    """

    def __init__(self, imports: ImportGraph) -> None:
        self._imports = imports

    def may_hold_for(self, module: ModuleInfo) -> bool:
        """Return whether a program that runs a file may make each launch wait, so that clocks tell the truth there."""
        return module.path in self._files

    @cached_property
    def _files(self) -> frozenset[Path]:
        """The files that are part of a program which sets the variable."""
        saying = frozenset(path for path in self._imports.files_whose_text(_says_so) if not is_test_file(path))
        programs = saying.union(*map(self._imports.importers_of, saying))
        return programs | self._imports.reached_from(programs)


def _says_so(text: str) -> bool:
    """Return whether the text of a file sets the variable."""
    return "CUDA_LAUNCH_BLOCKING" in text and _SETS.search(text) is not None
