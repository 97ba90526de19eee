"""The functions and classes that nothing in their project names, though other programs might: they were left behind.

Unlike what is uncalled, they may belong to a package that others install. Somebody could import such a function from
its file, but neither the package nor its documents offer it. Their files are imported for other things, or are scripts.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import is_private_name, is_test_file
from devlint.interpreter.program.program import Program
from devlint.linter.computed_members import ComputedMembers
from devlint.linter.computed_names import computes_names
from devlint.linter.project_texts import is_installed, project_folder
from devlint.linter.reached_files import ENTRY_FILES, MAIN_GUARD
from devlint.linter.uncalled import Definition, UncalledDefinitions
from devlint.syntax.exports import declared_exports
from devlint.syntax.own_paths import has_own_path

_TAKES_NOTHING: Final = re.compile(r"def\s+\w+\(\s*\)")
"""The head of a function without parameters."""


class UnnamedFunctions:
    """The answers to the question whether nothing in the project of a program names the function at a row of a file.

    A class is a function in this sense, with all its methods.
    """

    def __init__(self, program: Program, uncalled: UncalledDefinitions) -> None:
        self._program = program
        self._uncalled = uncalled
        self._members = ComputedMembers(program, uncalled)
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
        """Return whether nothing outside of the project is offered a function, and nothing computes its name.

        Its name is private, its file is a script, left over or one that others import for something else, or the
        function is a trial, which reads or writes files of its author.
        """
        home, name = definition.module, definition.name
        is_private = is_private_name(name)
        if definition.is_method:
            if not is_private:
                return False
        elif definition.is_class:
            if self._uncalled.may_list_classes:
                return False
        elif name.startswith(("test", "pytest_")) or name.endswith("__"):
            return False
        if is_test_file(home.path) or home.path.stem in ENTRY_FILES or home.is_package or home.source.cells is not None:
            return False
        if name in (declared_exports(home.index.statements) or ()) and not self._is_run_in_place(home):
            return False
        users = self._uncalled.importing.of_file(home)
        is_script = len(self._uncalled.modules) > 1 and MAIN_GUARD.search(home.source.text) is not None
        offered = not (is_script or is_private or len(users) > 1 or self._is_trial(definition))
        if offered and not self._uncalled.is_left_over(home):
            return False
        if definition.is_method and computes_names(self._program, home, of_methods=True, within=True):
            return False
        return not any(
            self._members.may_be_reached(one, home, is_class=definition.is_class) or self._offers(one, home)
            for one in users
        )

    def _is_trial(self, definition: Definition) -> bool:
        """Return whether a function takes no arguments and has the path of a file of its author in it."""
        unit = definition.module.index.statement_at(definition.first_row)
        return unit is not None and _TAKES_NOTHING.match(unit.text) is not None and has_own_path(unit.text)

    def _offers(self, user: ModuleInfo, home: ModuleInfo) -> bool:
        """Return whether a package passes on a file whole, or all that it defines, to those who use the package."""
        if not user.is_package or self._is_run_in_place(user):
            return False
        imports = (one for unit in user.index.statements for one in unit.imports)
        return any(self._members.whole_file(user, one) == home.path for one in imports)

    def _is_run_in_place(self, module: ModuleInfo) -> bool:
        """Return whether the package of a file is not installed, and a script beside the package runs it."""
        disk = self._program.disk
        if is_installed(module.path, disk):
            return False
        folder = module.path.parent
        while disk.is_file(folder / "__init__.py"):
            folder = folder.parent
        beside = (one for one in self._uncalled.modules if one.path.parent == folder)
        return any(MAIN_GUARD.search(one.source.text) for one in beside)
