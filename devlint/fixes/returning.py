"""Arguments that a function moves for itself are handed back to those who call it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import before
from devlint.fixes.names import parameters_of
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix
from devlint.fixes.statements import put_behind
from devlint.interpreter.program.liveness import is_read_after
from devlint.syntax.tree_walk import descend


def return_moved(sheet: FixContext, part: NodeRegion, call: cst.CSTNode) -> Fix:
    """The function returns what it has moved, and each call in the file takes that."""
    function = part.function(call)
    if function is None or part.function(function) is not None or function is not part.unit.tree:
        raise NoFix
    if any(isinstance(one, (cst.Return, cst.Yield)) for one in descend(function.body, into_functions=False)):
        raise NoFix
    moved = [name for name in parameters_of(function) if _is_moved(function, name)]
    last = function.body.body[-1]
    if not moved or not isinstance(last, cst.SimpleStatementLine):
        raise NoFix
    names = ", ".join(moved)
    edits = (put_behind(part, last.body[-1], f"return {names}"), *_taken(sheet, function, moved))
    return Fix(f"Return `{names}`", Applicability.UNSAFE, edits)


def _is_moved(function: cst.FunctionDef, name: str) -> bool:
    """Whether a parameter's last value is a call on itself that nobody reads."""
    for line in function.body.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            match statement:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=target))],
                    value=cst.Call(func=cst.Attribute(value=cst.Name(value=source))),
                ) if target == source == name and not is_read_after(function.body, statement, name):
                    return True
    return False


def _taken(sheet: FixContext, function: cst.FunctionDef, moved: list[str]) -> Iterator[Edit]:
    """At every call of the function, the assignment of what it returns."""
    name, parameters = function.name.value, parameters_of(function)
    for unit in sheet.index.statements:
        if name not in unit.mentions or unit.tree is function:
            continue
        part = sheet.of(unit)
        for node in descend(unit.tree):
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == name:
                yield before(part, node, ", ".join(_given(part, node, parameters, moved)) + " = ")


def _given(part: NodeRegion, call: cst.Call, parameters: list[str], moved: list[str]) -> Iterator[str]:
    """The variables that a call gives for the parameters that are moved."""
    if not isinstance(part.parent(call), cst.Expr) or any(one.star for one in call.args):
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
