"""The functions that nothing in their project names, though other programs might: helpers that were left behind.

Unlike what is uncalled, they may belong to a package that others install. Somebody could import such a function from
its file, but neither the package nor its documents offer it. Their files are imported for other things, or are scripts.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import is_test_file
from devlint.interpreter.program.program import Program
from devlint.linter.project_texts import project_folder
from devlint.linter.reached_files import ENTRY_FILES, MAIN_GUARD
from devlint.linter.uncalled import Definition, UncalledDefinitions
from devlint.syntax.exports import declared_exports
from devlint.syntax.index import Binding

_ANY_NAME: Final = re.compile(r"(?<![\w.])(?:globals|locals|eval|exec|__import__)\(|\bimport_module\(|\bsys\.modules\b")
"""The ways to reach any function of a file by a name that the program computes."""
_MEMBER: Final = re.compile(
    r"(?<![\w.])(?:getattr\((?![^()]*,\s*[\"']\w+[\"']\s*[,)])|vars\()\s*(\w+)|\b(\w+)(?:\.\w+)*\.__dict__"
)
"""The ways to reach a member of what has a name, by a name that the program computes."""


class UnnamedFunctions:
    """The answers to the question whether nothing in the project of a program names the function at a row of a file."""

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._program = program
        self._uncalled = uncalled
        self._known: dict[Definition, bool] = {}

    def is_one_at(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row is in a function that nothing names, except code of such functions."""
        return self._is_whole and any(map(self._is_unnamed, self._uncalled.definitions_at(module, row)))

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the project around the given files is all of it, and no part of a larger package."""
        disk = self._program.disk
        folder = project_folder(self._program.given_paths, disk)
        return self._uncalled.other_texts is not None and not any(
            disk.is_file(above / "__init__.py") for above in folder.parents
        )

    def _is_unnamed(self, definition: Definition) -> bool:
        """Return whether nothing names a function, except code of functions that nothing names."""
        known = self._known.get(definition)
        if known is None:
            self._known[definition] = False  # Functions that call each other may be called from somewhere.
            known = self._is_left_behind(definition) and not self._uncalled.is_named_outside(
                definition, self._is_unnamed
            )
            self._known[definition] = known
        return known

    def _is_left_behind(self, definition: Definition) -> bool:
        """Return whether a function's file is a script, or others import it for something else, by written names."""
        home, name = definition.module, definition.name
        if definition.is_method or definition.is_class or name.startswith(("test", "pytest_")) or name.endswith("__"):
            return False
        if is_test_file(home.path) or home.path.stem in ENTRY_FILES or home.is_package or home.source.cells is not None:
            return False
        if name in (declared_exports(home.index.statements) or ()):
            return False
        users = self._uncalled.importing.of_file(home)
        is_script = len(self._uncalled.modules) > 1 and MAIN_GUARD.search(home.source.text) is not None
        return (is_script or len(users) > 1) and not any(
            self._may_compute(one, home) or self._offers(one, home) for one in users
        )

    def _may_compute(self, user: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether a file may name the functions of another one, or its own, by a name that it computes."""
        text = user.source.text
        if _ANY_NAME.search(text):
            return True
        roots = {one for match in _MEMBER.finditer(text) for one in match.groups() if one is not None}
        imports = (one for unit in user.index.statements for one in unit.imports if one.name in roots)
        paths = (self._whole_file(user, one) for one in imports)
        return any(path is not None and path in _files_around(home) for path in paths)

    def _offers(self, user: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether a package passes on a file whole, or all that it defines."""
        imports = (one for unit in user.index.statements for one in unit.imports)
        return user.is_package and any(self._whole_file(user, one) == home.path for one in imports)

    def _whole_file(self, user: ModuleInfo, one: Binding) -> Path | None:
        """Return the file that an import takes whole, or from which it takes all names; None for a single name."""
        dotted = f"{one.module}.{one.attribute}" if one.attribute not in (None, "*") else one.loads or one.module
        return self._program.resolve(user, dotted.strip("."), one.level)


def _files_around(home: ModuleInfo) -> Collection[Path]:
    """Return a file, and the files of the packages around it, through which its members can be reached."""
    return [home.path, *(folder / "__init__.py" for folder in home.path.parents)]
