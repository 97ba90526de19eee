"""Results that a function keeps beyond its run: code under `if self.table is None:` that binds `self.table`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from devlint.syntax.tree_walk import children, descend, dotted_name


def runs_until_kept(body: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a function stands in a branch that is taken until the branch binds what it asks for.

    What is asked for outlives the run: an attribute, an entry of a container, or a global name.
    """
    kept_names = {item.name.value for one in descend(body) if isinstance(one, cst.Global) for item in one.names}
    for branch, absent in _branches_around(body, node):
        asked = {name for name in absent if "." in name or "[" in name or name in kept_names}
        if asked and any(_bound_name(target) in asked for target in _targets(branch)):
            return True
    return False


def _branches_around(body: cst.CSTNode, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, frozenset[str]]]:
    """Yield the branches of `if` statements around a node, with the names that are absent where they are taken."""
    path = _path(body, node)
    for above, below in pairwise(path):
        if isinstance(above, cst.If) and below is not above.test:
            yield below, frozenset(_absent_names(above.test, holds=below is above.body))


def _path(root: cst.CSTNode, node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return the nodes from `root` down to `node`; empty where `root` does not contain `node`."""
    parents = {child: parent for parent in (root, *descend(root)) for child in children(parent)}
    path = [node]
    while path[-1] is not root:
        above = parents.get(path[-1])
        if above is None:
            return []
        path.append(above)
    return path[::-1]


def _absent_names(test: cst.BaseExpression, *, holds: bool) -> Iterator[str]:
    """Yield the names of the things that a test finds absent where it holds, or where it fails.

    A container of which a key is asked is named with brackets (`cache[]`).
    """
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            yield from _absent_names(inner, holds=not holds)
        case cst.BooleanOperation(left=left, operator=cst.Or(), right=right) if holds:
            yield from _absent_names(left, holds=True)
            yield from _absent_names(right, holds=True)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=operator, comparator=other)]):
            yield from _absent_in_comparison(left, operator, other, holds=holds)
        case cst.Call(func=cst.Name(value="hasattr"), args=[owner, cst.Arg(value=cst.SimpleString() as name)]):
            if not holds:
                yield f"{dotted_name(owner.value)}.{name.raw_value}"
        case cst.Name() | cst.Attribute() if not holds:
            yield from filter(None, [dotted_name(test)])


def _absent_in_comparison(
    left: cst.BaseExpression, operator: cst.BaseCompOp, other: cst.BaseExpression, *, holds: bool
) -> Iterator[str]:
    """Yield the name of the thing that a comparison with None, or a question for a key, finds absent."""
    none = isinstance(other, cst.Name) and other.value == "None"
    if none and isinstance(operator, (cst.Is, cst.Equal) if holds else (cst.IsNot, cst.NotEqual)):
        yield from filter(None, [dotted_name(left)])
    container = dotted_name(other)
    if container is not None and isinstance(operator, cst.NotIn if holds else cst.In):
        yield f"{container}[]"


def _targets(branch: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the targets of the assignments in a branch."""
    for one in descend(branch):
        match one:
            case cst.AssignTarget(target=target) | cst.AnnAssign(target=target):
                yield target


def _bound_name(target: cst.BaseExpression) -> str | None:
    """Return the name under which an assignment keeps its value; that of an entry is its container's with brackets."""
    if isinstance(target, cst.Subscript):
        container = dotted_name(target.value)
        return f"{container}[]" if container is not None else None
    return dotted_name(target)
