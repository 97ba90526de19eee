"""Questions about variable names that fixes must respect: where a name is bound, and where else it is read."""

from __future__ import annotations

import itertools

import libcst as cst

from devlint.fixes.fix_context import NodeRegion
from devlint.interpreter.program.definitions import names_bound_by
from devlint.interpreter.program.name_events import NameEvents
from devlint.syntax.tree_walk import descend, names_in_target


def loop_that_binds(region: NodeRegion, node: cst.CSTNode, name: str) -> cst.For | None:
    """Return the innermost `for` loop around a node whose target binds a name; None without such a loop.

    Only loops within the function of the node count.
    """
    for above in region.ancestors(node):
        if isinstance(above, cst.FunctionDef):
            return None
        if isinstance(above, cst.For) and name in names_in_target(above.target):
            return above
    return None


def binds_same_variable(region: NodeRegion, node: cst.CSTNode, name: str) -> bool:
    """Return whether an assignment to a name, inserted at `node`, binds the variable that a read of the name reads.

    The assignment would bind another variable if the name is global or a closure's and the function does not declare
    it.
    """
    function = region.enclosing_function(node)
    return function is None or name in region.cached(names_bound_in_function, function)


def is_read_elsewhere(region: NodeRegion, node: cst.Name) -> bool:
    """Return whether the value that one expression reads from a variable is also read by another expression.

    A loop around the expression that does not bind the variable counts as another read, because its next iteration
    reads the same value.
    """
    function, loop = region.enclosing_function(node), loop_that_binds(region, node, node.value)
    if loop is not None:
        code: list[cst.CSTNode] = [loop.body]
    elif function is not None:
        code = [function.body]
    else:
        code = [one.tree for one in region.context.index.statements if node.value in one.mentions | one.binds]
    seen = [one for tree in code for one in region.cached(NameEvents, tree).of(node.value)]
    at = next((i for i, (_, one) in enumerate(seen) if one is node), None)
    if at is None:
        return True
    first = max((i for i in range(at) if seen[i][0] == "bind"), default=-1)
    last = next((i for i in range(at, len(seen)) if seen[i][0] == "bind"), len(seen))
    read_by_others = sum(kind == "read" for kind, _ in seen[first + 1 : last]) > 1
    return read_by_others or _is_bound_before_loop(region, node, seen[first][1] if first >= 0 else loop and loop.target)


def _is_bound_before_loop(region: NodeRegion, node: cst.CSTNode, binding: cst.CSTNode | None) -> bool:
    """Return whether a loop around the read of a name does not contain the name's binding.

    Each iteration of such a loop reads the same value. Only loops within the function of the read count.
    """
    around = [one for one in region.ancestors(node) if isinstance(one, (cst.For, cst.While, cst.FunctionDef))]
    loops = itertools.takewhile(lambda one: not isinstance(one, cst.FunctionDef), around)
    holders = list(region.ancestors(binding)) if binding is not None else []
    return any(loop not in holders for loop in loops)


def names_bound_in_function(function: cst.FunctionDef) -> frozenset[str]:
    """Return the names that a function binds: parameters, targets in its body, names declared global or nonlocal."""
    names = set(parameter_names(function))
    for node in descend(function.body, into_functions=False):
        names.update(names_bound_by(node))
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            names.update(item.name.value for item in node.names)
    return frozenset(names)


def parameter_names(function: cst.FunctionDef) -> list[str]:
    """Return the names of a function's parameters, in the order of its signature."""
    return [one.name.value for one in descend(function.params) if isinstance(one, cst.Param)]
