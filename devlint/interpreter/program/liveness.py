"""Liveness of names: whether the value that a name holds is read again, and which names a loop changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo, names_bound_by
from devlint.interpreter.program.name_events import NameEvents
from devlint.interpreter.program.node_kinds import MUTATORS
from devlint.syntax.tree_walk import descend, names_in_target

NON_MUTATING_FUNCTIONS: Final = frozenset({"print"})
"""The functions that are called as statements without changing their arguments."""


def reads_of_name(node: cst.CSTNode, name: str) -> list[cst.CSTNode]:
    """Return the reads of a name within a syntax node, in execution order.

    The body of a loop is included even where the loop binds the name.
    """
    if isinstance(node, cst.For):
        parts = (node.iter, node.body, *([node.orelse] if node.orelse else []))
        return [one for part in parts for one in reads_of_name(part, name)]
    if isinstance(node, cst.FunctionDef):
        node = node.body
    return [one for kind, one in NameEvents(node).of(name) if kind == "read"]


def is_read_after(body: cst.CSTNode, assignment: cst.CSTNode, name: str, loop: cst.CSTNode | None = None) -> bool:
    """Return whether `name` is read in `body` after `assignment`, or anywhere in the loop `loop` if one is given.

    Reads in the assignment's own right-hand side do not count.
    """
    own = set(reads_of_name(assignment, name))
    if loop is not None and any(one not in own for one in reads_of_name(loop, name)):
        return True
    after = set(_nodes_from(body, assignment))
    return any(one in after and one not in own for one in reads_of_name(body, name)) or _read_in_own_loop(
        body, assignment, name, own, after
    )


def _nodes_from(body: cst.CSTNode, assignment: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes of a body of code, in order, from the node of an assignment on."""
    seen = False
    for one in descend(body):
        seen = seen or one is assignment
        if seen:
            yield one


def _read_in_own_loop(
    body: cst.CSTNode, assignment: cst.CSTNode, name: str, own: set[cst.CSTNode], after: set[cst.CSTNode]
) -> bool:
    """Return whether a loop variable is read after an assignment to it, within the body of its own `for` loop."""
    for one in descend(body):
        if (
            isinstance(one, cst.For)
            and name in names_in_target(one.target)
            and any(part is assignment for part in descend(one.body))
        ):
            return any(read in after and read not in own for read in reads_of_name(one.body, name))
    return False


def names_changed_in(node: cst.CSTNode) -> frozenset[str]:
    """Return the names, and dotted names such as `self.x`, that the code in a node binds or may change in place."""
    return names_bound_in(node) | names_mutated_in(node)


def names_bound_in(node: cst.CSTNode) -> frozenset[str]:
    """Return the names that the code in a node binds."""
    return frozenset(name for one in (node, *descend(node, into_functions=False)) for name in names_bound_by(one))


def settled_names(function: FunctionInfo) -> frozenset[str]:
    """Return the names that hold one value during a call of a function: it binds them once, and not in a loop."""
    nodes = [*descend(function.node.body, into_functions=False)]
    bound = Counter([one.name for one in function.parameters])
    bound.update(name for node in nodes for name in names_bound_by(node))
    loops = [node for node in nodes if type(node) is cst.For or type(node) is cst.While]
    repeated = {name for loop in loops for name in names_bound_in(loop)}
    return frozenset(name for name, times in bound.items() if times == 1) & function.locals - repeated


def names_mutated_in(node: cst.CSTNode) -> frozenset[str]:
    """Return the names, and dotted names such as `self.x`, of objects that the code in a node may change in place.

    A call whose result is discarded is assumed to change its arguments, or the object whose method it is.
    """
    names: set[str] = set()
    for one in descend(node, into_functions=False):
        if type(one) not in MUTATORS:
            continue
        match one:
            case cst.AssignTarget(target=cst.Attribute() as target) | cst.AugAssign(target=cst.Attribute() as target):
                names.add(_dotted_text(target))
            case (
                cst.AssignTarget(target=cst.Subscript(value=target)) | cst.AugAssign(target=cst.Subscript(value=target))
            ):
                names.add(_dotted_text(target))
            case cst.Call(func=cst.Attribute(value=target, attr=cst.Name(value=method))) if method.endswith(
                "_"
            ) and not method.startswith("_"):
                names.add(_dotted_text(target))
            case cst.Expr(value=cst.Call(func=function, args=args)) if (
                _dotted_text(function) not in NON_MUTATING_FUNCTIONS
            ):
                names.update(_dotted_text(arg.value) for arg in args)
                if isinstance(function, cst.Attribute):
                    names.add(_dotted_text(function.value))
            case cst.Call(args=args):
                names.update(_dotted_text(arg.value) for arg in args if arg.keyword and arg.keyword.value == "out")
    return frozenset(names)


def names_mutated_inside(function: FunctionInfo) -> frozenset[str]:
    """Return the names of objects that functions nested in a function may change in place, whenever they run."""
    nested = [one for one in descend(function.node.body) if type(one) is cst.FunctionDef]
    return frozenset(name for one in nested for name in names_mutated_in(one))


def _dotted_text(node: cst.BaseExpression) -> str:
    """Return the dotted text of a name or attribute chain (`self.fc.weight`); empty for any other expression."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.insert(0, node.attr.value)
        node = node.value
    return ".".join([node.value, *parts]) if isinstance(node, cst.Name) else ""


RESHAPING: Final = frozenset(
    "bfloat16 bool contiguous detach double expand expand_as flatten float half int long permute ravel repeat reshape"
    " reshape_as squeeze t transpose unsqueeze view view_as".split()
)
"""The methods that return a tensor's values in another form; equal inputs give equal results."""


def varies_in_loop(node: cst.BaseExpression, assigned: frozenset[str]) -> bool:
    """Return whether the value of an expression may differ from one iteration of a loop to the next.

    `assigned` are the names that the loop's body changes. Calls are assumed to differ, except for `torch.device(...)`
    and methods that only give a value another form (those in RESHAPING).
    """
    match node:
        case cst.Name(value=value):
            return value in assigned
        case cst.Attribute(value=value):
            dotted = _dotted_text(node)
            if not dotted:
                return varies_in_loop(value, assigned)
            prefixes = dotted.split(".")
            return any(".".join(prefixes[:i]) in assigned for i in range(1, len(prefixes) + 1))
        case cst.Integer() | cst.Float() | cst.SimpleString():
            return False
        case cst.Subscript(value=value, slice=elements):
            return varies_in_loop(value, assigned) or any(_index_varies(one.slice, assigned) for one in elements)
        case cst.BinaryOperation(left=left, right=right):
            return varies_in_loop(left, assigned) or varies_in_loop(right, assigned)
        case cst.UnaryOperation(expression=value):
            return varies_in_loop(value, assigned)
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name)), args=args):
            if name not in RESHAPING and _dotted_text(node.func) != "torch.device":
                return True
            return varies_in_loop(owner, assigned) or any(
                one.star or varies_in_loop(one.value, assigned) for one in args
            )
    return True


def _index_varies(element: cst.BaseSlice, assigned: frozenset[str]) -> bool:
    """Return whether an index or slice in a subscript may differ from one iteration of a loop to the next."""
    match element:
        case cst.Index(value=value):
            return varies_in_loop(value, assigned)
        case cst.Slice(lower=lower, upper=upper, step=step):
            return any(one is not None and varies_in_loop(one, assigned) for one in (lower, upper, step))
    return True
