"""Names as fixes must respect them: where they are bound, and where else they are read."""

from __future__ import annotations

import libcst as cst

from devlint.fixes.sheet import Part
from devlint.flow.definitions import bound_by
from devlint.syntax.walk import descend


def is_bound_here(part: Part, node: cst.CSTNode, name: str) -> bool:
    """Whether binding a name where `node` stands rebinds what reading it there reads."""
    function = part.function(node)
    return function is None or name in bound_in(function)


def bound_in(function: cst.FunctionDef) -> frozenset[str]:
    """The names that a function binds: its parameters, what its body assigns, and what it declares global."""
    names = set(parameters_of(function))
    for node in descend(function.body, into_functions=False):
        names.update(bound_by(node))
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            names.update(item.name.value for item in node.names)
    return frozenset(names)


def parameters_of(function: cst.FunctionDef) -> list[str]:
    """The names of a function's parameters, in order."""
    return [one.name.value for one in descend(function.params) if isinstance(one, cst.Param)]
