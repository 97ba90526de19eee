"""What an expression of a called function is in the code of its caller: the argument that was given for a parameter."""

from __future__ import annotations

import libcst as cst

from devlint.interpreter.program.definitions import FunctionInfo, names_bound_by
from devlint.interpreter.program.node_paths import path_to
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend


def in_caller(frame: Frame, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the caller's expression for one of a called function: a parameter, or an attribute of a parameter.

    A number or a text is itself in the caller. None where the expression is something else, where the function has
    bound the name anew before, or where the call unpacks its arguments.
    """
    if frame.caller is None or frame.function is None:
        return None
    match node:
        case cst.Attribute(value=owner, attr=attr):
            outer = in_caller(frame, owner)
            return cst.Attribute(outer, attr) if outer is not None else None
        case cst.Name(value=name):
            call = frame.caller[1]
            bound = _is_bound_before(frame.function, name, node)
            return _argument(frame.function, call, name) if isinstance(call, cst.Call) and not bound else None
        case cst.Integer() | cst.SimpleString():
            return node
    return None


def _argument(function: FunctionInfo, call: cst.Call, name: str) -> cst.BaseExpression | None:
    """Return the argument of a call for the parameter of a name: what the call gives, or else a constant default."""
    if any(one.star for one in call.args):
        return None
    for one in call.args:
        if one.keyword is not None and one.keyword.value == name:
            return one.value
    names = [one.name for one in function.parameters if one.kind == "positional"]
    given = [one.value for one in call.args if one.keyword is None]
    if function.owner is not None and "staticmethod" not in function.decorator_names:
        if not isinstance(call.func, cst.Attribute):
            return None
        given.insert(0, call.func.value)
    if name in names and names.index(name) < len(given):
        return given[names.index(name)]
    defaults = [one.default for one in function.parameters if one.name == name]
    return next((one for one in defaults if isinstance(one, (cst.Integer, cst.SimpleString))), None)


def _is_bound_before(function: FunctionInfo, name: str, use: cst.CSTNode) -> bool:
    """Return whether a function may bind a parameter's name anew before a given use of it.

    The assignment that takes the value of the use itself comes after it.
    """
    body = function.node.body
    own = {id(target) for one in path_to(body, use) if isinstance(one, cst.Assign) for target in one.targets}
    for one in descend(body):
        if one is use:
            return False
        if id(one) not in own and name in names_bound_by(one):
            return True
    return False
