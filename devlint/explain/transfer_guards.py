"""Comparisons of devices that only decide whether a tensor is moved."""

from __future__ import annotations

import libcst as cst

from devlint.domain.placement import Place
from devlint.domain.torch_names import MOVE_METHODS
from devlint.syntax.index import Statement
from devlint.syntax.tree_walk import descend


def guards_transfer(place: Place) -> bool:
    """Return whether a comparison is the test of an `if` without `else` whose body holds a transfer.

    Such a comparison does no harm when it is always true, because a transfer to the tensor's own device does nothing.
    """
    tree = place.unit.tree if isinstance(place.unit, Statement) else None
    for branch in (tree, *descend(tree)) if tree is not None else ():
        if isinstance(branch, cst.If) and branch.test is place.node:
            lines = branch.body.body if branch.orelse is None else ()
            parts = (line.body if isinstance(line, cst.SimpleStatementLine) else (line,) for line in lines)
            return any(_is_transfer(one) for part in parts for one in part)
    return False


def _is_transfer(statement: cst.CSTNode) -> bool:
    """Return whether a statement only moves a tensor or a module: `x = x.to(device)`, `model.cuda()`."""
    match statement:
        case (
            cst.Assign(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=method))))
            | cst.Expr(value=cst.Call(func=cst.Attribute(attr=cst.Name(value=method))))
        ):
            return method in MOVE_METHODS
    return False
