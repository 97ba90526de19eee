"""What the port of a file has to know of the whole program: when it may ask for a device, whose `cuda` it calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.program import Program
from devlint.port.port_context import ProgramTraits

_ASKS_LATE: Final = re.compile(
    r"CUDA_VISIBLE_DEVICES['\"]\s*\]\s*=[^=]|(setdefault|putenv|update)\([^()]*CUDA_VISIBLE_DEVICES"
    r"|\bos\.fork\(|\b(Process|Pool|get_context|set_start_method)\("
)
"""Text of a program that chooses the visible devices itself, or makes processes that may be forks."""
_OWN_TRANSFER: Final = re.compile(r"^[ \t]+def (cuda|to)\(", re.MULTILINE)
"""A method by which a class of the program moves its objects."""


def program_traits(modules: Mapping[Path, ModuleInfo], program: Program) -> dict[Path, ProgramTraits]:
    """Return the traits of a program for each of its files."""
    texts = {path: one.source.text for path, one in modules.items()}
    asks_late = any(_ASKS_LATE.search(text) for text in texts.values())
    own = {path for path, text in texts.items() if _OWN_TRANSFER.search(text)}
    return {
        path: ProgramTraits(asks_late, path in own or bool(own & _imported(one, program)))
        for path, one in modules.items()
    }


def _imported(module: ModuleInfo, program: Program) -> set[Path]:
    """Return the files of the program that a file imports."""
    found = set()
    for statement in module.index.statements:
        for one in statement.imports:
            names = [one.module, f"{one.module}.{one.attribute}" if one.module else one.attribute or ""]
            paths = [program.resolve(module, name, one.level) for name in names if name]
            found |= {path for path in paths if path is not None}
    return found
