"""What stands around an expression: the call it is part of, and the parameters of a function."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devlint.domain.placement import Place
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend


def call_of(place: Place) -> Place | None:
    """Return the place of the call of a function: a call itself, or the call of the function that is named there."""
    around = _around(place)
    if isinstance(place.node, cst.Call):
        return place
    match around[-2:]:
        case [cst.Call(func=called) as call, _] if called is place.node:
            return replace(place, node=call)
    return None


def call_passing(place: Place) -> Place | None:
    """Return the place of the call whose argument an expression is; None for an expression that is no argument."""
    match _around(place)[-3:]:
        case [cst.Call() as call, cst.Arg(), _]:
            return replace(place, node=call)
    return None


def parameter_place(function: Place, name: str) -> Place | None:
    """Return the place of a parameter in the head of a function; None if the function has no such parameter."""
    if isinstance(function.node, cst.FunctionDef):
        for one in descend(function.node.params):
            if isinstance(one, cst.Param) and one.name.value == name:
                return replace(function, node=one.name)
    return None


def _around(place: Place) -> list[cst.CSTNode]:
    """Return the nodes from the statement of an expression down to it."""
    unit, node = place.unit, place.node
    return path_to(unit.tree, node) if isinstance(unit, Statement) and isinstance(node, cst.CSTNode) else []
