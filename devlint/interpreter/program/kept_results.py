"""Results that are made once and kept: code under `if self.table is None:` that binds `self.table`.

They are kept beyond a function's run (an attribute, an entry of a container, a global name), or in a loop from one
iteration to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

import libcst as cst

from devlint.interpreter.program.node_paths import path_to
from devlint.syntax.tree_walk import descend, dotted_name


@lru_cache(maxsize=256)
def runs_until_kept(body: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a function stands in a branch that is taken until the branch binds what it asks for.

    What is asked for outlives the run: an attribute, an entry of a container, a global name, or a local name whose
    value the branch stores in such a place. A branch that is no more than a call leaves the binding to what it calls.
    """
    kept_names = {item.name.value for one in descend(body) if isinstance(one, cst.Global) for item in one.names}
    for branch, absent in _branches_on(path_to(body, node)):
        for name in absent:
            outlives = "." in name or "[" in name or name in kept_names
            kept = name in _bound_names(branch) or _calls_for_effect(branch)
            if kept if outlives else _is_stored(branch, name):
                return True
    return False


@lru_cache(maxsize=256)
def runs_once_in_loops(body: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node of a function stands in a branch that the loops around it take once.

    The branch asks for a local name that it alone binds, or for the first iteration (`if step == 0:`).
    """
    path = path_to(body, node)
    loops = [one for one in path if isinstance(one, (cst.For, cst.While))]
    for branch, absent in _branches_on(path):
        if loops and branch in descend(loops[0]) and any(_is_bound_only_in(branch, loops[0], one) for one in absent):
            return True
    return len(loops) == 1 and any(_is_first_iteration(above, below, loops[0]) for above, below in pairwise(path))


def _branches_on(path: list[cst.CSTNode]) -> Iterator[tuple[cst.CSTNode, frozenset[str]]]:
    """Yield the branches on a path down to a node, with the names that are absent where they are taken.

    What follows `if name is not None: return` is such a branch too, and the handler of a KeyError.
    """
    for above, below in pairwise(path):
        match above:
            case cst.If(test=test) if below is not test:
                yield below, frozenset(_absent_names(test, holds=below is above.body))
            case cst.IndentedBlock(body=statements):
                for one in statements[: next(i for i, each in enumerate(statements) if each is below)]:
                    if isinstance(one, cst.If) and one.orelse is None and leaves_block(one.body):
                        yield above, frozenset(_absent_names(one.test, holds=False))
            case cst.Try(body=tried) if isinstance(below, cst.ExceptHandler) and _handles_absence(below):
                yield below, frozenset(filter(None, map(_bound_name, _read_items(tried))))


def leaves_block(block: cst.BaseSuite) -> bool:
    """Return whether the last statement of a block leaves the function or the iteration of the loop."""
    last = block.body[-1] if block.body else None
    last = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(last, (cst.Return, cst.Continue))


def _handles_absence(handler: cst.ExceptHandler) -> bool:
    """Return whether a handler is for what is raised where an entry or attribute is absent."""
    return dotted_name(handler.type) in ("KeyError", "AttributeError") if handler.type is not None else False


def _read_items(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the entries and attributes that a piece of code reads."""
    return (one for one in descend(node) if isinstance(one, (cst.Subscript, cst.Attribute)))


def _is_stored(branch: cst.CSTNode, name: str) -> bool:
    """Return whether a branch stores the value of a local name as an attribute or an entry of a container."""
    for one in descend(branch):
        match one:
            case cst.Assign(targets=targets, value=value):
                stored = [each.target for each in targets]
                named = dotted_name(value) == name or any(dotted_name(each) == name for each in stored)
                if named and any(isinstance(each, (cst.Attribute, cst.Subscript)) for each in stored):
                    return True
    return False


def _is_bound_only_in(branch: cst.CSTNode, loop: cst.CSTNode, name: str) -> bool:
    """Return whether a branch in a loop binds a name that nothing else in the loop binds."""
    within = set(map(id, _targets(branch)))
    bound = [one for one in _targets(loop) if _bound_name(one) == name]
    return bool(bound) and all(id(one) in within for one in bound)


def _is_first_iteration(above: cst.CSTNode, below: cst.CSTNode, loop: cst.For | cst.While) -> bool:
    """Return whether a branch is taken in one iteration of a loop only: `if step == 0:`."""
    match above:
        case cst.If(
            test=cst.Comparison(
                left=cst.Name(value=name),
                comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.Integer())],
            ),
            body=body,
        ) if body is below and isinstance(loop, cst.For):
            targets = (loop.target, *descend(loop.target))
            return any(isinstance(one, cst.Name) and one.value == name for one in targets)
    return False


def _calls_for_effect(branch: cst.CSTNode) -> bool:
    """Return whether a branch is one call of the program's own function, which then keeps what was absent."""
    match branch:
        case cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=called))])]):
            return isinstance(called, cst.Name) or (dotted_name(called) or "").startswith("self.")
    return False


def _bound_names(branch: cst.CSTNode) -> set[str | None]:
    """Return the names under which the assignments in a branch, and calls such as `register_buffer`, keep values."""
    return {*map(_bound_name, _targets(branch)), *_registered_names(branch)}


def _registered_names(branch: cst.CSTNode) -> Iterator[str]:
    """Yield the dotted names of the attributes that calls in a branch set, by texts that are their names."""
    for one in descend(branch):
        match one:
            case cst.Call(func=cst.Name(value="setattr"), args=[owner, cst.Arg(value=cst.SimpleString() as name), _]):
                yield f"{dotted_name(owner.value)}.{name.raw_value}"
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="register_buffer" | "register_parameter")),
                args=[cst.Arg(value=cst.SimpleString() as name), *_],
            ):
                yield f"{dotted_name(owner)}.{name.raw_value}"


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
