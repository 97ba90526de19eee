"""The methods of an application that only constructors call: modules are still on the host there."""

from __future__ import annotations

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.node_paths import path_to
from devlint.linter.uncalled import Definition, UncalledDefinitions
from devlint.linter.unset_parameters import uses_in_project
from devlint.syntax.index import Statement


class BuildingMethods:
    """The answers to the question whether an application calls the method around a row only where it builds objects."""

    def __init__(self, uncalled: UncalledDefinitions) -> None:
        self._uncalled = uncalled
        self._known: dict[Definition, bool] = {}

    def name_at(self, module: ModuleInfo, row: int) -> str | None:
        """Return the name of the method around a row that only constructors call; None if there is no such method."""
        around = self._uncalled.definitions_at(module, row)
        return next((one.name for one in around if one.is_method and self._only_builds(one)), None)

    def _only_builds(self, method: Definition) -> bool:
        """Return whether all that names a method are calls in constructors, and there are some."""
        known = self._known.get(method)
        if known is None:
            known = self._known[method] = self._compute(method)
        return known

    def _compute(self, method: Definition) -> bool:
        """Compute the answer of `_only_builds`; of a method that a text of the project names nothing is known."""
        uses = uses_in_project(self._uncalled, method.module, method.name, is_method=True)
        return bool(uses) and all(use is not None and _is_in_constructor(unit, use) for unit, use in uses)


def _is_in_constructor(unit: Statement, call: cst.Call) -> bool:
    """Return whether a call in a statement is code of a constructor."""
    around = [one.name.value for one in path_to(unit.tree, call) if isinstance(one, cst.FunctionDef)]
    return around[:1] == ["__init__"]
