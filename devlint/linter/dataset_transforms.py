"""The classes that an application builds only as steps of what makes tensors of a dataset's images, on the host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import ModuleInfo
from devlint.interpreter.program.node_paths import path_to
from devlint.linter.host_callers import speaks_of_moves
from devlint.linter.uncalled import UncalledDefinitions
from devlint.linter.unset_parameters import uses_in_project
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend

_FROM_IMAGES: Final = frozenset({"ToTensor", "PILToTensor", "ToTensorV2"})
"""The transforms that take images and arrays only, and make tensors of them on the host."""
_COMPOSE: Final = "Compose"
"""The class that runs a list of transforms one after another."""
_ADDS: Final = frozenset({"append", "insert", "extend"})
"""The methods that add to a list."""


class DatasetTransforms:
    """The answers to the question whether the class around a row is only a step of a dataset's transforms."""

    def __init__(self, uncalled: UncalledDefinitions) -> None:
        self._uncalled = uncalled
        self._known: dict[tuple[ModuleInfo, str], bool] = {}

    def stay_on_host(self, module: ModuleInfo, row: int) -> bool:
        """Return whether all that names the class around a row builds steps of a dataset's transforms."""
        unit = module.index.statement_at(row)
        if unit is None or unit.kind != "class" or unit.name is None:
            return False
        key = module, unit.name
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._compute(module, unit.name)
        return known

    def _compute(self, module: ModuleInfo, name: str) -> bool:
        """Compute the answer of `stay_on_host`; of a class that a text of the project names nothing is known."""
        if self._uncalled.may_list_classes:
            return False
        uses = uses_in_project(self._uncalled, module, name, is_method=False)
        return bool(uses) and all(use is not None and _is_step(unit, use) for unit, use in uses)


def _is_step(unit: Statement, call: cst.Call) -> bool:
    """Return whether a call builds a step beside one that takes images only, in a list that is composed.

    The statement around the call says nothing of a device. The list may have a name, which then means nothing else.
    """
    if speaks_of_moves(unit.text):
        return False
    path = path_to(unit.tree, call)
    scope = next((one for one in reversed(path) if isinstance(one, cst.FunctionDef)), unit.tree)
    match path[-5:]:
        case [*_, cst.Call(args=[cst.Arg(value=steps), *_]) as composed, cst.Arg(), cst.List(), cst.Element(), _] if (
            _called(composed) == _COMPOSE
        ):
            return _takes_images(steps)
        case [*_, cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]), cst.List(), cst.Element(), _]:
            return _is_composed(scope, name)
        case [*_, cst.Call(func=cst.Attribute(value=cst.Name(value=name))) as added, cst.Arg(), _] if (
            _called(added) in _ADDS
        ):
            return _is_composed(scope, name)
    return False


def _is_composed(scope: cst.CSTNode, name: str) -> bool:
    """Return whether a function only fills the list of a name, with a step that takes images, and composes it."""
    known, uses = set[cst.CSTNode](), set[cst.CSTNode]()
    takes_images = composes = False
    for node in descend(scope):
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=found) as target)], value=cst.List()) if (
                found == name
            ):
                known.add(target)
                takes_images = takes_images or _takes_images(node.value)
            case cst.Call(func=cst.Attribute(value=cst.Name(value=found) as target)) if (
                found == name and _called(node) in _ADDS
            ):
                known.add(target)
                takes_images = takes_images or any(_takes_images(one.value) for one in node.args)
            case cst.Call(args=[cst.Arg(value=cst.Name(value=found) as target)]) if (
                found == name and _called(node) == _COMPOSE
            ):
                known.add(target)
                composes = True
            case cst.Name(value=found) if found == name:
                uses.add(node)
    return takes_images and composes and uses <= known


def _takes_images(steps: cst.BaseExpression) -> bool:
    """Return whether a step, or one of a list of steps, takes images only."""
    return any(isinstance(one, cst.Call) and _called(one) in _FROM_IMAGES for one in _steps(steps))


def _steps(steps: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the elements of a list, or what is no list itself."""
    if isinstance(steps, cst.List):
        yield from (one.value for one in steps.elements)
    else:
        yield steps


def _called(call: cst.Call) -> str | None:
    """Return the last part of the name of what is called."""
    match call.func:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name
    return None
