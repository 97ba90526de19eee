"""Elements that are made one by one and then put together: `torch.stack([x.to(device) for x in xs])`."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import dotted_name

_JOINING: Final = frozenset("stack cat concat concatenate vstack hstack tensor pad_sequence".split())
"""The functions of torch that put the elements of a list together in one tensor."""


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
