"""The parameters of an application's functions that no call of the application sets, so that their defaults hold."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.domain.path_conditions import Atom, PathCondition
from devlint.interpreter.program.definitions import FunctionInfo, ModuleInfo, Parameter
from devlint.linter.uncalled import UncalledDefinitions
from devlint.syntax.index import Statement
from devlint.syntax.source import SourceError
from devlint.syntax.tree_walk import descend

_CONSTANTS = {"None": None, "True": True, "False": False}
"""The constants that are written as names."""


class UnsetParameters:
    """The answers to the question whether a path is taken only where a parameter has another value than its default."""

    def __init__(self, uncalled: UncalledDefinitions) -> None:
        self._uncalled = uncalled
        self._known: dict[tuple[FunctionInfo, str], bool] = {}

    def needed_by(self, path_condition: PathCondition) -> Iterator[str]:
        """Yield the names of the parameters that somebody must set for a path to be taken, though no call does."""
        for test in path_condition:
            match test.formula:
                case Atom(question=question) if question is not None:
                    match question.subject:
                        case ("param", FunctionInfo() as info, str(name)):
                            default = _default(info, name)
                            if default and question.answer(default[0]) is not test.holds and self._is_unset(info, name):
                                yield name

    def _is_unset(self, info: FunctionInfo, name: str) -> bool:
        """Return whether no call of the application passes a parameter of a function."""
        known = self._known.get((info, name))
        if known is None:
            known = self._known[info, name] = self._compute_unset(info, name)
        return known

    def _compute_unset(self, info: FunctionInfo, name: str) -> bool:
        """Compute the answer of `_is_unset`; a function that is called under another name, or decorated, is not known.

        So is a parameter that the settings or documents of the project name.
        """
        uncalled, function = self._uncalled, info.name.rpartition(".")[2]
        if function.startswith("__") or function == "forward" or info.decorators or info.closure is not None:
            return False
        if not uncalled.knows_callers(info.module, function, is_method=info.owner is not None):
            return False
        if uncalled.is_named_elsewhere(name):
            return False
        position = _position(info, name)
        uses = [
            use for module in uncalled.modules for unit in _units(module, function) for use in _uses(unit, function)
        ]
        return not any(use is None or _passes(use, name, position) for use in uses)


def _position(info: FunctionInfo, name: str) -> int:
    """Return the number of positional arguments before a parameter, `self` left out, in calls that pass it so."""
    names = [one.name for one in info.parameters if one.kind == "positional"]
    return (names.index(name) if name in names else len(names)) - (info.owner is not None)


def _units(module: ModuleInfo, name: str) -> Iterator[Statement]:
    """Yield the top-level statements of a file that mention a name."""
    return (unit for unit in module.index.statements if name in unit.mentions)


def _uses(unit: Statement, name: str) -> Iterator[cst.Call | None]:
    """Yield the calls of what has a name in a statement, and None for any other use of the name."""
    try:
        tree = unit.tree
    except SourceError:
        yield None
        return
    called: set[cst.CSTNode] = set()
    for node in (tree, *descend(tree)):
        match node:
            case (
                cst.Call(func=cst.Name(value=found) as func)
                | cst.Call(func=cst.Attribute(attr=cst.Name(value=found) as func))
            ) if found == name:
                called.add(func)
                yield node
            case cst.FunctionDef(name=defined) if defined.value == name:
                called.add(defined)
            case cst.ImportAlias(name=imported, asname=None):
                called |= {one for one in (imported, *descend(imported)) if isinstance(one, cst.Name)}
            case cst.Name(value=found) if found == name and node not in called:
                yield None


def _passes(call: cst.Call, name: str, position: int) -> bool:
    """Return whether a call may pass a parameter, given the parameter's name and its position among the arguments."""
    positional = [one for one in call.args if one.keyword is None]
    return (
        len(positional) > position
        or any(one.star for one in call.args)
        or any(one.keyword is not None and one.keyword.value == name for one in call.args)
    )


def _default(info: FunctionInfo, name: str) -> tuple[object] | None:
    """Return the default value of a parameter if it is written as a constant, as the only element of a tuple."""
    found: Parameter | None = next((one for one in info.parameters if one.name == name), None)
    match found.default if found is not None else None:
        case cst.Name(value=("None" | "True" | "False") as constant):
            return (_CONSTANTS[constant],)
        case cst.Integer() | cst.Float() as number:
            return (number.evaluated_value,)
        case cst.SimpleString() as text:
            return (text.evaluated_value,)
    return None
