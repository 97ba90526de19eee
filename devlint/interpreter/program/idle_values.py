"""Idle values: those of which nothing that runs depends, as a time that is only kept, or printed under `if False:`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

import libcst as cst

from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import descend

_FIGURES: Final = frozenset({"float", "int", "round", "str"})
"""The names of functions that only make another figure, or a text, of a figure."""
_FILLING: Final = frozenset({"append", "clear"})
"""The methods of a list that fill or empty it, and do not read it."""


def is_idle(root: cst.CSTNode, node: cst.CSTNode, roots: Sequence[cst.CSTNode]) -> bool:
    """Return whether the value of an expression goes nowhere but into names that no code which runs reads.

    `root` is the code around the expression, `roots` all code that may read its names: the same function, or the
    top-level statements of a file.
    """
    return _Flow(roots).is_idle(path_to(root, node))


class _Flow:
    """The flow of one value through the names of some code; a name is asked about once."""

    def __init__(self, roots: Sequence[cst.CSTNode]) -> None:
        self._roots = roots
        self._asked: set[str] = set()

    def is_idle(self, path: Sequence[cst.CSTNode]) -> bool:
        """Return whether the value of a node, the last one of a path, goes nowhere in code that runs."""
        if _is_dead(path):
            return True
        name = _kept_as(path)
        return name is not None and self._is_unread(name)

    def _is_unread(self, name: str) -> bool:
        """Return whether all that code does with a name is to give it values, and to read them into idle ones."""
        if name in self._asked:
            return True
        self._asked.add(name)
        uses = (
            path_to(root, one)
            for root in self._roots
            for one in descend(root)
            if isinstance(one, cst.Name) and one.value == name
        )
        return all(map(self._is_idle_use, uses))

    def _is_idle_use(self, path: Sequence[cst.CSTNode]) -> bool:
        """Return whether a place where a name stands, the last node of a path, only gives it a value, or is idle."""
        use = path[-1]
        around = list(takewhile(lambda one: not isinstance(one, cst.AssignTarget), reversed(path[:-1])))
        if len(around) < len(path) - 1 and all(isinstance(one, cst.Tuple | cst.Element) for one in around):
            return True
        match path[:-1]:
            case [*_, (cst.AugAssign() | cst.AnnAssign()) as above] if above.target is use:
                return True
            case [*_, cst.Expr(), cst.Call(), cst.Attribute(value=value, attr=cst.Name(value=method))]:
                return (value is use and method in _FILLING) or self.is_idle(path)
            case [*_, cst.Attribute(attr=attr)] if attr is use:
                return True
            case [*_, cst.Arg(keyword=keyword)] if keyword is use:
                return True
        return self.is_idle(path)


def _kept_as(path: Sequence[cst.CSTNode]) -> str | None:
    """Return the name of the variable or list in which a figure, the last node, is kept; None if it goes elsewhere."""
    for i in reversed(range(len(path) - 1)):
        above, below = path[i], path[i + 1]
        match above:
            case cst.BinaryOperation() | cst.UnaryOperation() | cst.Arg():
                continue
            case cst.Call(func=cst.Name(value=function)) if function in _FIGURES:
                continue
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append"))):
                return name if i > 0 and isinstance(path[i - 1], cst.Expr) else None
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value) if below is value:
                return name
            case cst.AugAssign(target=cst.Name(value=name), value=value) if below is value:
                return name
        return None
    return None


def _is_dead(path: Sequence[cst.CSTNode]) -> bool:
    """Return whether code stands in a branch that a constant in its test keeps from ever running."""
    for above, below in pairwise(path):
        match above:
            case cst.If(test=test, body=body, orelse=orelse):
                if (below is body and _is_constant(test, False)) or (below is orelse and _is_constant(test, True)):
                    return True
    return False


def _is_constant(test: cst.BaseExpression, value: bool) -> bool:
    """Return whether a test has a value whatever the names in it stand for, as `x and False` is false."""
    match test:
        case cst.Name(value="True" | "False" as text):
            return (text == "True") is value
        case cst.Integer(value="0" | "1" as digit):
            return (digit == "1") is value
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            return _is_constant(inner, not value)
        case cst.BooleanOperation(operator=operator, left=left, right=right):
            sides = [_is_constant(one, value) for one in (left, right)]
            return any(sides) if isinstance(operator, cst.And) is not value else all(sides)
    return False
