"""The classes that a file of tests defines for its own tests, and whether these move objects of them."""

from __future__ import annotations

from collections.abc import Iterator

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.private_definitions import is_test_file
from devlint.linter.host_callers import speaks_of_moves
from devlint.linter.uncalled import UncalledDefinitions
from devlint.syntax.index import Statement
from devlint.syntax.text_words import has_word


class TestedClasses:
    """The answers to the question whether the class around a row is one that only tests on the host use."""

    def __init__(self, uncalled: UncalledDefinitions) -> None:
        self._uncalled = uncalled

    def stay_on_host(self, module: ModuleInfo, row: int) -> bool:
        """Return whether a row is in a class of a file of tests that nobody imports, and nothing there moves it.

        Neither what names the class, directly or through other definitions of the file, speaks of a device, nor do the
        helpers of the tests that the file imports.
        """
        unit = module.index.statement_at(row)
        if unit is None or unit.kind != "class" or not is_test_file(module.path):
            return False
        importing = self._uncalled.importing
        if any(speaks_of_moves(one.text) for one in _users(module, unit)) or len(importing.of_file(module)) > 1:
            return False
        helpers = (one for one in importing.imported_by(module) if self._uncalled.helps_tests(one, module))
        return not any(speaks_of_moves(one.source.text) for one in helpers)


def _users(module: ModuleInfo, unit: Statement) -> Iterator[Statement]:
    """Yield a statement of a file and those that name what it binds, directly or through others."""
    found, pending = {unit}, [unit]
    while pending:
        user = pending.pop()
        yield user
        for one in module.index.statements:
            if one not in found and any(has_word(one.text, name) for name in user.binds):
                found.add(one)
                pending.append(one)
