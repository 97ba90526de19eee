"""Elements that are put together in one tensor: `torch.cat([x, y])`, `torch.stack([x.to(device) for x in xs])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo, names_bound_by
from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import descend, dotted_name

_JOINING: Final = frozenset("stack cat concat concatenate vstack hstack tensor pad_sequence".split())
"""The functions of torch that put the elements of a list together in one tensor."""

_OF_ONE_DEVICE: Final = frozenset(f"torch.{name}" for name in "stack cat concat concatenate vstack hstack".split())
"""The functions that raise unless all elements of the list are on one device, where their result is then."""


def joined_names(function: FunctionInfo, name: str) -> Sequence[str]:
    """Return the names whose tensors a function puts together in the tensor of a name: `t = torch.cat([x, y])`.

    Each of the names has one value in the function; the result is empty if the tensor is made in any other way.
    """
    nodes = list(descend(function.node.body, into_functions=False))
    bound = [one.name for one in function.parameters] + [one for node in nodes for one in names_bound_by(node)]
    for node in nodes if bound.count(name) == 1 else ():
        match node:
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name(value=target))],
                value=cst.Call(
                    func=called, args=[cst.Arg(value=cst.List(elements=elements) | cst.Tuple(elements=elements)), *_]
                ),
            ) if target == name and dotted_name(called) in _OF_ONE_DEVICE:
                given = [one.value.value for one in elements if isinstance(one.value, cst.Name)]
                return [one for one in given if bound.count(one) == 1]
    return ()


def joining_function(code: cst.CSTNode, node: cst.CSTNode) -> str | None:
    """Return the name of the function that puts an expression's values together in one tensor; None without one.

    The expression is in the element of a comprehension, which is an argument of that function.
    """
    path = path_to(code, node)
    for call, argument, made, element in zip(path, path[1:], path[2:], path[3:], strict=False):
        match call, made:
            case cst.Call(func=function, args=[first, *_]), cst.ListComp(elt=elt) | cst.GeneratorExp(elt=elt):
                name = dotted_name(function)
                if first is argument and elt is element and name and name.rpartition(".")[2] in _JOINING:
                    return name
    return None
