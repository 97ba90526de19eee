"""Names as fixes must respect them: where they are bound, and where else they are read."""

from __future__ import annotations

import itertools

import libcst as cst

from devlint.fixes.sheet import NodeRegion
from devlint.interpreter.program.definitions import names_bound_by, names_in_target
from devlint.interpreter.program.name_events import NameEvents
from devlint.syntax.tree_walk import descend


def loop_over(part: NodeRegion, node: cst.CSTNode, name: str) -> cst.For | None:
    """The loop around a node, in the same function, that binds a name."""
    for above in part.parents(node):
        if isinstance(above, cst.FunctionDef):
            return None
        if isinstance(above, cst.For) and name in names_in_target(above.target):
            return above
    return None


def is_bound_here(part: NodeRegion, node: cst.CSTNode, name: str) -> bool:
    """Whether binding a name where `node` stands rebinds what reading it there reads."""
    function = part.function(node)
    return function is None or name in part.told(bound_in, function)


def is_read_again(part: NodeRegion, node: cst.Name) -> bool:
    """Whether the value that a name has at a place is read elsewhere, or once more in a loop that does not bind it."""
    function, loop = part.function(node), loop_over(part, node, node.value)
    if loop is not None:
        code: list[cst.CSTNode] = [loop.body]
    elif function is not None:
        code = [function.body]
    else:
        code = [one.tree for one in part.sheet.index.statements if node.value in one.mentions | one.binds]
    seen = [one for tree in code for one in part.told(NameEvents, tree).of(node.value)]
    at = next((i for i, (_, one) in enumerate(seen) if one is node), None)
    if at is None:
        return True
    first = max((i for i in range(at) if seen[i][0] == "bind"), default=-1)
    last = next((i for i in range(at, len(seen)) if seen[i][0] == "bind"), len(seen))
    read_by_others = sum(kind == "read" for kind, _ in seen[first + 1 : last]) > 1
    return read_by_others or _is_bound_before_loop(part, node, seen[first][1] if first >= 0 else loop and loop.target)


def _is_bound_before_loop(part: NodeRegion, node: cst.CSTNode, binding: cst.CSTNode | None) -> bool:
    """Whether a loop around a place runs without giving the name a new value."""
    around = [one for one in part.parents(node) if isinstance(one, (cst.For, cst.While, cst.FunctionDef))]
    loops = itertools.takewhile(lambda one: not isinstance(one, cst.FunctionDef), around)
    holders = list(part.parents(binding)) if binding is not None else []
    return any(loop not in holders for loop in loops)


def bound_in(function: cst.FunctionDef) -> frozenset[str]:
    """The names that a function binds: its parameters, what its body assigns, and what it declares global."""
    names = set(parameters_of(function))
    for node in descend(function.body, into_functions=False):
        names.update(names_bound_by(node))
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            names.update(item.name.value for item in node.names)
    return frozenset(names)


def parameters_of(function: cst.FunctionDef) -> list[str]:
    """The names of a function's parameters, in order."""
    return [one.name.value for one in descend(function.params) if isinstance(one, cst.Param)]
