"""What is the same in each iteration is done once, before the loop."""

from __future__ import annotations

import itertools

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.calls import receiver_of
from devlint.fixes.edits import replace
from devlint.fixes.names import bound_in
from devlint.fixes.sheet import NodeRegion, NoFix
from devlint.fixes.statements import outermost_loop, put_before_statement, take_out
from devlint.interpreter.program.liveness import names_changed_in, names_mutated_in, varies_in_loop
from devlint.syntax.tree_walk import descend


def hoist(part: NodeRegion, call: cst.CSTNode) -> Fix:
    """A transfer is put in front of the outermost loop in which it is always the same.

    A statement that only names the result goes as a whole; any other transfer is given a name there.
    """
    if not isinstance(call, cst.Call):
        raise NoFix
    depends = [receiver_of(call), *(one.value for one in call.args)]
    loop = outermost_loop(
        part, call, lambda one: not any(varies_in_loop(each, names_changed_in(one)) for each in depends)
    )
    if loop is None:
        raise NoFix
    statement = part.parent(call)
    name = _sole_target(statement)
    if not _is_always_made(part, call, loop) or _is_written_to(part, call, loop, name):
        raise NoFix
    if name is not None and isinstance(statement, cst.Assign) and _is_only_binding(loop, name):
        edits = (put_before_statement(part, loop, f"{name} = {part.code(call)}"), take_out(part, statement))
        return Fix(f"Make `{name}` before the loop", Applicability.UNSAFE, edits)
    name = _new_name(part, call)
    edits = (put_before_statement(part, loop, f"{name} = {part.code(call)}"), replace(part, call, name))
    return Fix("Move it before the loop", Applicability.UNSAFE, edits)


def _is_always_made(part: NodeRegion, call: cst.Call, loop: cst.For | cst.While) -> bool:
    """Whether each iteration makes the transfer: under a condition it may be one that cannot be made everywhere."""
    conditional = (cst.If, cst.IfExp, cst.BooleanOperation, cst.Try, cst.TryStar, cst.Match)
    inside = itertools.takewhile(lambda above: above is not loop, part.parents(call))
    return not any(isinstance(above, conditional) for above in inside)


def _is_written_to(part: NodeRegion, call: cst.Call, loop: cst.For | cst.While, name: str | None) -> bool:
    """Whether the loop changes in place what the transfer returns, which is then no longer new in each iteration."""
    above = part.parent(call)
    if isinstance(above, cst.Attribute) and above.attr.value.endswith("_"):
        return True
    return name is not None and name in names_mutated_in(loop.body)


def _sole_target(statement: cst.CSTNode | None) -> str | None:
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            return name
    return None


def _is_only_binding(loop: cst.For | cst.While, name: str) -> bool:
    """Whether a loop's body gives a name no other value."""
    targets = [
        one
        for node in descend(loop)
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr, cst.CompFor))
        for one in (node.target, *descend(node.target))
    ]
    return sum(isinstance(one, cst.Name) and one.value == name for one in targets) == 1


def _new_name(part: NodeRegion, call: cst.Call) -> str:
    """A name for the moved tensor that the code has no other use for."""
    receiver = receiver_of(call)
    base = receiver.attr.value if isinstance(receiver, cst.Attribute) else "moved"
    if isinstance(receiver, cst.Name):
        base = f"moved_{receiver.value}"
    function = part.function(call)
    taken = part.unit.mentions | (part.told(bound_in, function) if function is not None else part.sheet.index.bound)
    own = receiver.attr.value if isinstance(receiver, cst.Attribute) else ""
    while base in taken and not (base == own and _is_attribute_only(part, base)):
        base = f"moved_{base}"
    return base


def _is_attribute_only(part: NodeRegion, name: str) -> bool:
    """Whether a word is used for attributes only, so that a variable of that name hides nothing."""
    tree = part.unit.tree
    attributes = {id(one.attr) for one in descend(tree) if isinstance(one, cst.Attribute)}
    names = (one for one in descend(tree) if isinstance(one, cst.Name) and one.value == name)
    return all(id(one) in attributes for one in names) and name not in part.sheet.index.bound
