"""The reads and bindings of `self` attributes in a method, in execution order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.interpreter.program.node_kinds import ASSIGNMENTS, SCOPES
from devlint.syntax.tree_walk import children

EVENT_TYPES: Final = SCOPES | ASSIGNMENTS | {cst.Attribute}
"""The node types that the walk handles by pattern match; of all others it visits the children."""


def self_attribute_events(node: cst.CSTNode) -> Iterator[tuple[str, bool]]:
    """Yield the name of each attribute of `self` that a method reads or binds, in execution order.

    Each name comes with True for a binding and False for a read.
    """
    pending = [(node, False)]
    while pending:
        one, bound = pending.pop()
        if bound and isinstance(one, (cst.Tuple, cst.List)):
            pending.extend((element.value, True) for element in reversed(one.elements))
        elif type(one) not in EVENT_TYPES:
            pending.extend((child, False) for child in reversed([*children(one)]))
        else:
            match one:
                case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
                    yield name, bound
                case cst.Attribute(value=owner):
                    pending.append((owner, False))
                case cst.Assign(targets=targets, value=value):
                    pending.extend((target.target, True) for target in reversed(targets))
                    pending.append((value, False))
                case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
                    pending += [(target, True), (value, False)]
                case cst.AugAssign(target=target, value=value):
                    pending += [(target, True), (value, False), (target, False)]
                case cst.NamedExpr(value=value):
                    pending.append((value, False))
