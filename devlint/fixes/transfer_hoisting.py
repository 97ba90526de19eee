"""A fix that moves a transfer out of a loop when every iteration transfers the same tensor to the same device."""

from __future__ import annotations

import itertools

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.call_edits import receiver_of
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.name_queries import names_bound_in_function
from devlint.fixes.statement_edits import insert_lines_before_statement, outermost_loop, remove_statement
from devlint.interpreter.program.liveness import names_changed_in, names_mutated_in, varies_in_loop
from devlint.syntax.tree_walk import descend


def hoist_transfer(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that moves a transfer before the outermost loop in which its receiver and its target do not change.

    A statement that only assigns the result moves as a whole; the result of any other transfer is assigned to a new
    variable before the loop. Raises NoFix when some iteration does not execute the transfer, or when the loop changes
    its result in place.
    """
    if not isinstance(call, cst.Call):
        raise NoFix
    depends = [receiver_of(call), *(one.value for one in call.args)]
    loop = outermost_loop(
        region, call, lambda one: not any(varies_in_loop(each, names_changed_in(one)) for each in depends)
    )
    if loop is None:
        raise NoFix
    statement = region.parent(call)
    name = _only_target(statement)
    if not _runs_in_each_iteration(region, call, loop) or _changes_result_in_place(region, call, loop, name):
        raise NoFix
    if name is not None and isinstance(statement, cst.Assign) and _is_only_binding(loop, name):
        edits = (
            insert_lines_before_statement(region, loop, f"{name} = {region.code(call)}"),
            remove_statement(region, statement),
        )
        return Fix(f"Make `{name}` before the loop", Applicability.UNSAFE, edits)
    name = _new_name(region, call)
    edits = (
        insert_lines_before_statement(region, loop, f"{name} = {region.code(call)}"),
        replace_node(region, call, name),
    )
    return Fix("Move the transfer before the loop", Applicability.UNSAFE, edits)


def _runs_in_each_iteration(region: NodeRegion, call: cst.Call, loop: cst.For | cst.While) -> bool:
    """Return whether each iteration of a loop executes a transfer, which is not within a condition in the loop.

    A transfer under a condition may fail on some machines, so a fix must not make it unconditional.
    """
    conditional = (cst.If, cst.IfExp, cst.BooleanOperation, cst.Try, cst.TryStar, cst.Match)
    inside = itertools.takewhile(lambda above: above is not loop, region.ancestors(call))
    return not any(isinstance(above, conditional) for above in inside)


def _changes_result_in_place(region: NodeRegion, call: cst.Call, loop: cst.For | cst.While, name: str | None) -> bool:
    """Return whether a loop changes the result of a transfer in place, so that each iteration needs a new result.

    `name` is the variable to which the result is assigned, if any.
    """
    above = region.parent(call)
    if isinstance(above, cst.Attribute) and above.attr.value.endswith("_"):
        return True
    return name is not None and name in names_mutated_in(loop.body)


def _only_target(statement: cst.CSTNode | None) -> str | None:
    """Return the name of the variable that a statement assigns, if it assigns exactly one; otherwise None."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name
    return None


def _is_only_binding(loop: cst.For | cst.While, name: str) -> bool:
    """Return whether a loop contains exactly one binding of a name."""
    targets = [
        one
        for node in descend(loop)
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr, cst.CompFor))
        for one in (node.target, *descend(node.target))
    ]
    return sum(isinstance(one, cst.Name) and one.value == name for one in targets) == 1


def _new_name(region: NodeRegion, call: cst.Call) -> str:
    """Return a name that the code does not use yet, for a variable that holds the moved tensor."""
    receiver = receiver_of(call)
    base = receiver.attr.value if isinstance(receiver, cst.Attribute) else "moved"
    if isinstance(receiver, cst.Name):
        base = f"moved_{receiver.value}"
    function = region.enclosing_function(call)
    taken = region.statement.mentions | (
        region.cached(names_bound_in_function, function) if function is not None else region.context.index.bound
    )
    own = receiver.attr.value if isinstance(receiver, cst.Attribute) else ""
    while base in taken and not (base == own and _is_attribute_only(region, base)):
        base = f"moved_{base}"
    return base


def _is_attribute_only(region: NodeRegion, name: str) -> bool:
    """Return whether the code uses a name only as an attribute, so that a new variable of that name hides nothing."""
    tree = region.statement.tree
    attributes = {id(one.attr) for one in descend(tree) if isinstance(one, cst.Attribute)}
    names = (one for one in descend(tree) if isinstance(one, cst.Name) and one.value == name)
    return all(id(one) in attributes for one in names) and name not in region.context.index.bound
