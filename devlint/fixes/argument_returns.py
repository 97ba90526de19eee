"""A fix for a function that moves its arguments and drops them: return them, and assign them at each call."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import insert_before
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix
from devlint.fixes.name_queries import parameter_names
from devlint.fixes.statement_edits import insert_lines_after
from devlint.interpreter.program.liveness import is_read_after
from devlint.syntax.tree_walk import descend


def return_moved_arguments(context: FixContext, region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that lets a function return the arguments it has moved, and lets each call in the file assign them.

    Raises NoFix for a nested function or a method, for a function with a return value, and for a call whose arguments
    are not plain variables.
    """
    function = region.enclosing_function(call)
    if function is None or region.enclosing_function(function) is not None or function is not region.statement.tree:
        raise NoFix
    if any(isinstance(one, (cst.Return, cst.Yield)) for one in descend(function.body, into_functions=False)):
        raise NoFix
    moved = [name for name in parameter_names(function) if _is_moved(function, name)]
    last = function.body.body[-1]
    if not moved or not isinstance(last, cst.SimpleStatementLine):
        raise NoFix
    names = ", ".join(moved)
    edits = (insert_lines_after(region, last.body[-1], f"return {names}"), *_call_site_edits(context, function, moved))
    return Fix(f"Return `{names}`, and assign it at each call", Applicability.UNSAFE, edits)


def _is_moved(function: cst.FunctionDef, name: str) -> bool:
    """Return whether a function assigns `p.method(...)` to its parameter `p` and does not read `p` afterwards."""
    for line in function.body.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match statement:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=target))],
                    value=cst.Call(func=cst.Attribute(value=cst.Name(value=source))),
                ) if target == source == name and not is_read_after(function.body, statement, name):
                    return True
    return False


def _call_site_edits(context: FixContext, function: cst.FunctionDef, moved: list[str]) -> Iterator[Edit]:
    """Yield the edits that assign a function's new return value to the passed variables, at each call in the file."""
    name, parameters = function.name.value, parameter_names(function)
    for unit in context.index.statements:
        if name not in unit.mentions or unit.tree is function:
            continue
        region = context.statement_region(unit)
        for node in descend(unit.tree):
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == name:
                yield insert_before(region, node, ", ".join(_passed_variables(region, node, parameters, moved)) + " = ")


def _passed_variables(region: NodeRegion, call: cst.Call, parameters: list[str], moved: list[str]) -> Iterator[str]:
    """Yield the names of the variables that a call passes for the moved parameters of a function.

    Raises NoFix if the call unpacks arguments, is part of a larger expression, or passes anything but a variable.
    """
    if not isinstance(region.parent(call), cst.Expr) or any(one.star for one in call.args):
        raise NoFix
    by_name = {
        argument.keyword.value if argument.keyword is not None else parameter: argument.value
        for argument, parameter in zip(call.args, parameters, strict=False)
    }
    for name in moved:
        value = by_name.get(name)
        if not isinstance(value, cst.Name):
            raise NoFix
        yield value.value
