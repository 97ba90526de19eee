"""Whether the value a name was just given is ever read again."""

from __future__ import annotations

import libcst as cst

from devlint.flow.definitions import bound_by
from devlint.syntax.walk import descend


def loads(node: cst.CSTNode, name: str) -> list[cst.CSTNode]:
    """The reads of a name within a node, in source order; binding it is no read."""
    bound: set[cst.CSTNode] = set()
    found: list[cst.CSTNode] = []
    for one in descend(node):
        match one:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.For(target=target):
                bound.update(part for part in (target, *descend(target)) if isinstance(part, cst.Name))
            case cst.CompFor(target=target) | cst.NamedExpr(target=target):
                bound.update(part for part in (target, *descend(target)) if isinstance(part, cst.Name))
            case cst.Attribute(attr=attr):
                bound.add(attr)
            case cst.Arg(keyword=cst.Name() as keyword) | cst.Param(name=keyword):
                bound.add(keyword)
            case cst.Name(value=value) if value == name and one not in bound:
                found.append(one)
    return found


def read_after(body: cst.CSTNode, assignment: cst.CSTNode, name: str, loop: cst.CSTNode | None = None) -> bool:
    """Whether `name` is read after `assignment` in `body`; when the assignment stands in a loop, anywhere in that loop.

    The assignment's own right-hand side does not count.
    """
    own = set(loads(assignment, name))
    if loop is not None and any(one not in own for one in loads(loop, name)):
        return True
    seen = False
    reads = set(loads(body, name))
    for one in descend(body):
        if one is assignment:
            seen = True
        elif seen and one in reads and one not in own:
            return True
    return False


def assigned_in(node: cst.CSTNode) -> frozenset[str]:
    """The names, and the dotted `self.x` targets, that a node binds."""
    names: set[str] = set()
    for one in descend(node, into_functions=False):
        names.update(bound_by(one))
        match one:
            case cst.AssignTarget(target=cst.Attribute() as target) | cst.AugAssign(target=cst.Attribute() as target):
                names.add(_dotted(target))
            case cst.With(items=items):
                for item in items:
                    if item.asname is not None and isinstance(item.asname.name, cst.Name):
                        names.add(item.asname.name.value)
    return frozenset(names)


def _dotted(node: cst.BaseExpression) -> str:
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.insert(0, node.attr.value)
        node = node.value
    return ".".join([node.value, *parts]) if isinstance(node, cst.Name) else ""


def varies_in(node: cst.BaseExpression, assigned: frozenset[str]) -> bool:
    """Whether an expression can differ from one iteration to the next, given what the loop's body binds.

    Calls (but for attribute reads and constants) are taken to differ.
    """
    match node:
        case cst.Name(value=value):
            return value in assigned
        case cst.Attribute(value=value):
            dotted = _dotted(node)
            if not dotted:
                return varies_in(value, assigned)
            prefixes = dotted.split(".")
            return any(".".join(prefixes[:i]) in assigned for i in range(1, len(prefixes) + 1))
        case cst.Integer() | cst.Float() | cst.SimpleString():
            return False
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            return varies_in(value, assigned) or varies_in(index, assigned)
    return True
