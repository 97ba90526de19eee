"""Keeps what a transfer returns: in the name it was called on or, for a loop's variable, in what is looped over."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import before, replace
from devlint.fixes.names import bound_in, is_bound_here, loop_over
from devlint.fixes.sheet import NodeRegion, NoFix
from devlint.interpreter.program.liveness import is_read_after
from devlint.syntax.tree_walk import descend, dotted_name


def assign_result(part: NodeRegion, call: cst.Call, variable: cst.BaseExpression, *, safe: bool) -> Fix:
    """`x.to(device)` as a statement becomes `x = x.to(device)`, or what that means for a loop's variable."""
    statement = part.parent(call)
    if not isinstance(statement, cst.Expr):
        raise NoFix
    if isinstance(variable, cst.Name):
        loop = loop_over(part, call, variable.value)
        if loop is not None and not _is_read_later(loop, statement, variable.value):
            place = _place_of(part, loop, variable.value)
            return _put_back(before(part, call, f"{place} = ")) if place is not None else collect(part, loop, call)
        if not is_bound_here(part, call, variable.value):
            raise NoFix
    elif not _can_be_assigned(part, variable):
        raise NoFix
    name = part.code(variable)
    sure = Applicability.SAFE if safe and isinstance(variable, cst.Name) else Applicability.UNSAFE
    return Fix(f"Assign the result to `{name}`", sure, (before(part, call, f"{name} = "),))


def rebind_in_container(part: NodeRegion, call: cst.Call, name: str) -> Fix:
    """`v = v.to(device)` for a loop's variable puts the result where the loop took the tensor from."""
    statement = part.parent(call)
    loop = loop_over(part, call, name)
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or loop is None:
        raise NoFix
    target = statement.targets[0].target
    if not isinstance(target, cst.Name) or target.value != name:
        raise NoFix
    place = _place_of(part, loop, name)
    return _put_back(replace(part, target, place)) if place is not None else collect(part, loop, call)


def collect(part: NodeRegion, loop: cst.For, call: cst.Call) -> Fix:
    """A loop that does nothing but move becomes one statement that keeps what is moved."""
    statement = _only_statement(loop)
    start, end = part.span(loop)[0], part.around(statement)[1]
    if loop.asynchronous is not None or not isinstance(loop.target, cst.Name) or "#" in part.sheet.text[start:end]:
        raise NoFix
    moved, name = part.code(call), loop.target.value
    match loop.iter:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="parameters" | "buffers")), args=[]):
            if not moved.startswith(f"{name}."):
                raise NoFix
            said, content = "Move the module", f"{part.code(owner)}{moved.removeprefix(name)}"
        case cst.Name(value=values) if is_bound_here(part, loop, values) and _is_of_use(part, loop, values):
            said, content = f"Collect the results in `{values}`", f"{values} = [{moved} for {name} in {values}]"
        case cst.Attribute(value=cst.Name(value="self")):
            values = part.code(loop.iter)
            said, content = f"Collect the results in `{values}`", f"{values} = [{moved} for {name} in {values}]"
        case _:
            raise NoFix
    return Fix(said, Applicability.UNSAFE, (part.sheet.edit(start, end, content),))


def _put_back(edit: Edit) -> Fix:
    return Fix("Put the result where the tensor came from", Applicability.UNSAFE, (edit,))


def _place_of(part: NodeRegion, loop: cst.For, name: str) -> str | None:
    """How to write the place from which a loop over `d.items()` or `enumerate(l)` takes its value."""
    match loop.target, loop.iter:
        case (
            cst.Tuple(elements=[cst.Element(value=cst.Name(value=key)), cst.Element(value=cst.Name(value=value))]),
            cst.Call(
                func=cst.Attribute(value=cst.Name() | cst.Attribute() as owner, attr=cst.Name(value="items")), args=[]
            )
            | cst.Call(
                func=cst.Name(value="enumerate"), args=[cst.Arg(value=cst.Name() | cst.Attribute() as owner, star="")]
            ),
        ) if name == value and dotted_name(owner) is not None:
            return f"{part.code(owner)}[{key}]"
    return None


def _only_statement(loop: cst.For) -> cst.BaseSmallStatement:
    match loop:
        case cst.For(body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[statement])]), orelse=None):
            return statement
    raise NoFix


def _is_read_later(loop: cst.For, statement: cst.CSTNode, name: str) -> bool:
    """Whether the loop's body goes on to read its variable after a statement."""
    return is_read_after(loop.body, statement, name)


def _is_of_use(part: NodeRegion, loop: cst.For, name: str) -> bool:
    """Whether anybody sees the list under its name once the loop is done."""
    function = part.function(loop)
    return function is None or is_read_after(function.body, loop, name) or name not in part.told(bound_in, function)


def _can_be_assigned(part: NodeRegion, variable: cst.BaseExpression) -> bool:
    """Whether an attribute or an entry is one that the code itself assigns, or an entry under a plain key."""
    if any(isinstance(node, cst.Call) for node in descend(variable)):
        return False
    if isinstance(variable, cst.Subscript):
        return True
    name = dotted_name(variable) if isinstance(variable, cst.Attribute) else None
    return name is not None and name in _assigned(part)


def _assigned(part: NodeRegion) -> Iterator[str]:
    """The dotted names that a top-level statement assigns."""
    for node in descend(part.unit.tree):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign)) and isinstance(node.target, cst.Attribute):
            name = dotted_name(node.target)
            if name is not None:
                yield name
