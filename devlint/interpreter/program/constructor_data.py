"""The data that a program itself passes to its constructors, such as `Trainer(DataLoader(data))`.

The objects of a class that the program makes from its own data are known: what happens to that data is found where the
program makes the objects, and no other caller is assumed to pass data that lies on another device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo
from devlint.interpreter.program.import_graph import ImportGraph
from devlint.interpreter.program.program import Program
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend, dotted_name

MAX_DEPTH: Final = 4
"""The number of names and functions through which the value of an argument is followed back."""

DISPLAYS: Final = (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp)
"""Expressions that make a container."""
MAKERS: Final = frozenset({"DataLoader", "list", "dict", "tuple", "zip"})
"""The last names of functions that return data to iterate over."""


class Construction(NamedTuple):
    """A parameter of the `__init__` of a class in a file, with the names of all its parameters but `self`."""

    path: Path
    owner: str
    parameters: tuple[str, ...]
    parameter: str


class ConstructorData:
    """The parameters of constructors for which every call passes data that the program makes.

    Calls of a class stand in its own file, and in the files to analyse that import it. `asked` are the parameters that
    were asked for, with the answers.
    """

    def __init__(self, program: Program, imports: ImportGraph) -> None:
        self._program = program
        self._imports = imports
        self._answers: dict[Construction, bool] = {}
        self.asked: dict[Construction, bool] = {}

    def is_made(self, initializer: FunctionInfo, parameter: str) -> bool:
        """Return whether at least one call passes a container or a DataLoader, and every other call too, or None."""
        if initializer.owner is None or initializer.name.rpartition(".")[2] != "__init__":
            return False
        names = tuple(one.name for one in initializer.parameters[1:])
        asked = Construction(initializer.module.path, initializer.owner.name, names, parameter)
        return self.is_made_for(asked)

    def is_made_for(self, asked: Construction) -> bool:
        """Return the answer of `is_made` for a parameter that is told as plain data."""
        if asked not in self._answers:
            units = [*self._units_around(asked.path)]
            given = _arguments(units, asked)
            made = [_makes(units, one, unit, 0) for one, unit in given if not _is_none(one)]
            self._answers[asked] = bool(made) and all(made)
        self.asked[asked] = self._answers[asked]
        return self._answers[asked]

    def _units_around(self, path: Path) -> Iterator[Statement]:
        """Yield the top-level statements of a file, and of those that import it directly or through other files."""
        for one in sorted({path, *self._imports.importers_of(path)}):
            module = self._program.load(one)
            if module is not None:
                yield from module.index.statements


def _arguments(units: Iterable[Statement], asked: Construction) -> Iterator[tuple[cst.BaseExpression, Statement]]:
    """Yield what each call of a class passes for a parameter of its `__init__`, with the statement of the call."""
    _, owner, names, parameter = asked
    position = names.index(parameter) if parameter in names else len(names)
    for unit in units:
        if owner not in unit.mentions:
            continue
        for node in _nodes(unit):
            if not isinstance(node, cst.Call) or (dotted_name(node.func) or "").rpartition(".")[2] != owner:
                continue
            if any(one.star for one in node.args):
                yield node, unit
                continue
            for i, one in enumerate(node.args):
                if one.keyword.value == parameter if one.keyword is not None else i == position:
                    yield one.value, unit


def _makes(units: Sequence[Statement], node: cst.BaseExpression, unit: Statement, depth: int) -> bool:
    """Return whether an expression in a statement's code is a container or a DataLoader that the program makes.

    Names are followed to their assignments in the same statement, and calls to functions among the statements `units`.
    """
    if isinstance(node, DISPLAYS):
        return True
    if depth > MAX_DEPTH:
        return False
    values: list[tuple[cst.BaseExpression, Statement]] = []
    match node:
        case cst.Name(value=name):
            values = [(value, unit) for value in _assigned_to(name, unit)]
        case cst.Call(func=function):
            name = (dotted_name(function) or "").rpartition(".")[2]
            if name in MAKERS:
                return True
            values = [
                (one.value, other)
                for other in units
                if other.kind == "function" and other.name == name
                for one in _nodes(other)
                if isinstance(one, cst.Return) and one.value is not None
            ]
    known = [_makes(units, value, other, depth + 1) for value, other in values if not _is_none(value)]
    return bool(known) and all(known)


def _nodes(unit: Statement) -> Iterator[cst.CSTNode]:
    """Yield the syntax nodes of a top-level statement; none where libcst cannot parse it."""
    tree = unit.tree_or_none
    if tree is not None:
        yield from descend(tree)


def _assigned_to(name: str, unit: Statement) -> Iterator[cst.BaseExpression]:
    """Yield the values that a statement's code assigns to a name."""
    for node in _nodes(unit):
        match node:
            case cst.Assign(targets=targets, value=value):
                if any(isinstance(one.target, cst.Name) and one.target.value == name for one in targets):
                    yield value


def _is_none(node: cst.BaseExpression) -> bool:
    """Return whether an expression is the literal None."""
    return isinstance(node, cst.Name) and node.value == "None"
