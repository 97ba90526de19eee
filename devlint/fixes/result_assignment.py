"""Fixes for a transfer whose result is lost: assign the result to the receiver's variable, or to the container.

The container is the list or dict from which a loop takes the receiver.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import insert_before, replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.name_queries import binds_same_variable, loop_that_binds, names_bound_in_function
from devlint.interpreter.program.liveness import is_read_after
from devlint.syntax.tree_walk import descend, dotted_name


def assign_result(region: NodeRegion, call: cst.Call, variable: cst.BaseExpression, *, safe: bool) -> Fix:
    """Return a fix that assigns the discarded result of a transfer: `x.to(device)` becomes `x = x.to(device)`.

    For a loop variable, the result is assigned to the container that the loop iterates over. `safe` tells whether the
    assignment to a local variable is a safe fix. Raises NoFix when neither the variable nor the container can be
    assigned.
    """
    statement = region.parent(call)
    if not isinstance(statement, cst.Expr):
        raise NoFix
    if isinstance(variable, cst.Name):
        loop = loop_that_binds(region, call, variable.value)
        if loop is not None and not _is_read_later(loop, statement, variable.value):
            place = _element_source(region, loop, variable.value)
            return (
                _container_fix(place, insert_before(region, call, f"{place} = "))
                if place is not None
                else collect_results(region, loop, call)
            )
        if not binds_same_variable(region, call, variable.value):
            raise NoFix
    elif not _can_be_assigned(region, variable):
        raise NoFix
    name = region.code(variable)
    trust = Applicability.SAFE if safe and isinstance(variable, cst.Name) else Applicability.UNSAFE
    return Fix(f"Assign the result to `{name}`", trust, (insert_before(region, call, f"{name} = "),))


def assign_to_container(region: NodeRegion, call: cst.Call, name: str) -> Fix:
    """Return a fix that assigns a moved loop variable to its entry in the container that the loop iterates over.

    `v = v.to(device)` becomes `d[k] = v.to(device)` in a loop over `d.items()`.
    """
    statement = region.parent(call)
    loop = loop_that_binds(region, call, name)
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or loop is None:
        raise NoFix
    target = statement.targets[0].target
    if not isinstance(target, cst.Name) or target.value != name:
        raise NoFix
    place = _element_source(region, loop, name)
    return (
        _container_fix(place, replace_node(region, target, place))
        if place is not None
        else collect_results(region, loop, call)
    )


def collect_results(region: NodeRegion, loop: cst.For, call: cst.Call) -> Fix:
    """Return a fix that replaces a loop whose body is only a transfer by one statement that keeps all moved tensors.

    A loop over `m.parameters()` becomes a transfer of the module `m`; a loop over a list becomes a list comprehension.
    Raises NoFix for any other loop.
    """
    statement = _only_statement(loop)
    start, end = region.span(loop)[0], region.span_with_parentheses(statement)[1]
    if loop.asynchronous is not None or not isinstance(loop.target, cst.Name) or "#" in region.context.text[start:end]:
        raise NoFix
    moved, name = region.code(call), loop.target.value
    match loop.iter:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="parameters" | "buffers")), args=[]):
            if not moved.startswith(f"{name}."):
                raise NoFix
            message, content = "Move the module", f"{region.code(owner)}{moved.removeprefix(name)}"
        case cst.Name(value=values) if binds_same_variable(region, loop, values) and _is_list_needed(
            region, loop, values
        ):
            message, content = f"Collect the results in `{values}`", f"{values} = [{moved} for {name} in {values}]"
        case cst.Attribute(value=cst.Name(value="self")):
            values = region.code(loop.iter)
            message, content = f"Collect the results in `{values}`", f"{values} = [{moved} for {name} in {values}]"
        case _:
            raise NoFix
    return Fix(message, Applicability.UNSAFE, (region.context.edit(start, end, content),))


def _container_fix(place: str, edit: Edit) -> Fix:
    """Return a fix with the given edit, which assigns the result of a transfer to the entry that has the tensor."""
    return Fix(f"Assign the result to `{place}`", Applicability.UNSAFE, (edit,))


def _element_source(region: NodeRegion, loop: cst.For, name: str) -> str | None:
    """Return the source text of the container entry from which a loop takes the variable `name`.

    It is `d[k]` for `for k, name in d.items()`, and `l[i]` for `for i, name in enumerate(l)`. Returns None for any
    other loop.
    """
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
            return f"{region.code(owner)}[{key}]"
    return None


def _only_statement(loop: cst.For) -> cst.BaseSmallStatement:
    """Return the only statement in the body of a loop. Raises NoFix for a longer body and for a loop with an `else`."""
    match loop:
        case cst.For(body=cst.IndentedBlock(body=[cst.SimpleStatementLine(body=[statement])]), orelse=None):
            return statement
    raise NoFix


def _is_read_later(loop: cst.For, statement: cst.CSTNode, name: str) -> bool:
    """Return whether the body of a loop reads the loop variable `name` after the given statement."""
    return is_read_after(loop.body, statement, name)


def _is_list_needed(region: NodeRegion, loop: cst.For, name: str) -> bool:
    """Return whether a list is read after the loop that fills it, or is visible outside of the function."""
    function = region.enclosing_function(loop)
    return (
        function is None
        or is_read_after(function.body, loop, name)
        or name not in region.cached(names_bound_in_function, function)
    )


def _can_be_assigned(region: NodeRegion, variable: cst.BaseExpression) -> bool:
    """Return whether a fix may insert an assignment to an attribute or to an entry `x[i]`.

    The expression must contain no call, and an attribute must be one that the code itself assigns somewhere.
    """
    if any(isinstance(node, cst.Call) for node in descend(variable)):
        return False
    if isinstance(variable, cst.Subscript):
        return True
    name = dotted_name(variable) if isinstance(variable, cst.Attribute) else None
    return name is not None and name in _assigned_attributes(region)


def _assigned_attributes(region: NodeRegion) -> Iterator[str]:
    """Yield the dotted names of the attributes, such as `self.x`, that code in one top-level statement assigns."""
    for node in descend(region.statement.tree):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign)) and isinstance(node.target, cst.Attribute):
            name = dotted_name(node.target)
            if name is not None:
                yield name
