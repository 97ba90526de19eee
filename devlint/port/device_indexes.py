"""Evidence that an expression is the index of a device: an integer, and neither None nor a device."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.fixes.fix_context import NodeRegion
from devlint.interpreter.program.definitions import names_bound_by
from devlint.port.port_context import PortContext
from devlint.syntax.string_literals import string_value
from devlint.syntax.tree_walk import children, descend, dotted_name

_INTEGER_CALLS = frozenset(
    "torch.distributed.get_rank torch.distributed.get_world_size torch.cuda.current_device torch.cuda.device_count"
    " torch.accelerator.current_device_index torch.accelerator.device_count".split()
)
"""The functions of torch that return an integer that is not negative."""
_SPAWN = "torch.multiprocessing.spawn"


def is_index(context: PortContext, region: NodeRegion, node: cst.BaseExpression) -> bool:
    """Return whether an expression is surely an integer: a number, a rank, an option that is one, a count."""
    match node:
        case cst.Integer():
            return True
        case cst.Call(func=cst.Name(value="int" | "len")):
            return True
        case cst.Call(func=func):
            return context.names.full_name(region, func) in _INTEGER_CALLS
        case cst.BinaryOperation(operator=cst.Modulo(), left=left):
            return is_index(context, region, left)
        case cst.Name(value=name):
            return _is_integer_name(context, region, node, name)
        case cst.Attribute(attr=cst.Name(value=name)):
            return _is_integer_option(context, name)
    return False


def is_index_from_zero(context: PortContext, region: NodeRegion, node: cst.BaseExpression) -> bool:
    """Return whether an expression is surely an index that is not negative.

    It is a number, or code that ran just before wrote the same into the name of a device, such as `f"cuda:{rank}"`,
    which torch refuses for anything else.
    """
    if isinstance(node, cst.Integer):
        return True
    name = dotted_name(node)
    return name is not None and any(name in _indexes_in(one) for one in _before(region, node, name))


def _before(region: NodeRegion, node: cst.CSTNode, name: str) -> Iterator[cst.SimpleStatementLine]:
    """Yield the statements that always ran before a node in its function, from the last one, since a name was bound."""
    below = node
    for above in region.ancestors(node):
        if isinstance(above, cst.IndentedBlock):
            for one in reversed(above.body[: above.body.index(below)]):
                if isinstance(one, cst.SimpleStatementLine):
                    yield one
                if any(name in _targets_in(each) for each in (one, *descend(one))):
                    return
        if isinstance(above, (cst.FunctionDef, cst.Lambda, cst.For, cst.While)):
            return
        below = above


def _targets_in(node: cst.CSTNode) -> set[str]:
    """Return the dotted names that an assignment, a loop or a `with` binds, or that `del` unbinds."""
    match node:
        case cst.AssignTarget(target=target) | cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            pass
        case cst.For(target=target) | cst.NamedExpr(target=target) | cst.AsName(name=target) | cst.Del(target=target):
            pass
        case _:
            return set()
    return {dotted_name(one) or "" for one in (target, *descend(target))}


def _indexes_in(statement: cst.SimpleStatementLine) -> set[str]:
    """Return the dotted names that a statement surely writes into the name of a CUDA device, as its index."""
    found: set[str] = set()
    pending: list[cst.CSTNode] = [*statement.body]
    while pending:
        node = pending.pop()
        match node:
            case cst.FormattedString(
                parts=[cst.FormattedStringText(value="cuda:"), cst.FormattedStringExpression(expression=index)]
            ):
                found.add(dotted_name(index) or "")
            case cst.IfExp() | cst.BooleanOperation() | cst.Lambda() | cst.BaseComp():
                continue
        pending += children(node)
    return found - {""}


def _is_integer_name(context: PortContext, region: NodeRegion, node: cst.CSTNode, name: str) -> bool:
    """Return whether all that is bound to a name in its function, or at the top of the file, is an integer."""
    function = region.enclosing_function(node)
    scopes: list[tuple[NodeRegion, cst.CSTNode]]
    if function is not None and any(name in _parameter_or_bound(one) for one in descend(function)):
        scopes = [(region, function)]
    else:
        statements = [one for one in context.fixes.index.statements if name in one.binds]
        regions = [context.fixes.statement_region(one) for one in statements]
        scopes = [(one, one.statement.tree) for one in regions]
    found = [answer for where, scope in scopes for answer in _bindings(context, where, scope, name)]
    return bool(found) and all(found)


def _bindings(context: PortContext, region: NodeRegion, scope: cst.CSTNode, name: str) -> Iterator[bool]:
    """Yield for each binding of a name in a scope whether it binds an integer."""
    for node in (scope, *descend(scope)):
        match node:
            case cst.Param(name=cst.Name(value=bound)) if bound == name:
                yield _is_integer_parameter(context, region, node)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=bound))], value=value) if bound == name:
                is_itself = isinstance(value, cst.Name) and value.value == name
                yield not is_itself and is_index(context, region, value)
            case cst.For(target=cst.Name(value=bound), iter=source) if bound == name:
                match source:
                    case cst.Call(func=cst.Name(value="range")):
                        yield True
                    case _:
                        yield False
            case cst.AssignTarget(target=cst.Name(value=bound)) if bound == name and _is_plain(region, node):
                continue
            case _ if node is not scope and name in names_bound_by(node):
                yield False


def _is_plain(region: NodeRegion, target: cst.AssignTarget) -> bool:
    """Return whether a target is the only one of its assignment, which is judged as a whole."""
    above = region.parent(target)
    return isinstance(above, cst.Assign) and len(above.targets) == 1


def _is_integer_parameter(context: PortContext, region: NodeRegion, parameter: cst.Param) -> bool:
    """Return whether a parameter is an integer: by its annotation, or as the first one of a spawned function."""
    match parameter.annotation:
        case cst.Annotation(annotation=cst.Name(value="int")):
            return not (isinstance(parameter.default, cst.Name) and parameter.default.value == "None")
    above = next((one for one in region.ancestors(parameter) if isinstance(one, cst.FunctionDef)), None)
    if above is None or not above.params.params or above.params.params[0] is not parameter:
        return False
    return above.name.value in _spawned(context)


def _spawned(context: PortContext) -> set[str]:
    """Return the names of the functions that the file runs by `torch.multiprocessing.spawn`."""
    found = set()
    for statement in context.fixes.index.statements:
        if "spawn" not in statement.mentions:
            continue
        region = context.fixes.statement_region(statement)
        for node in descend(statement.tree):
            match node:
                case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=name)), *_]):
                    if context.names.full_name(region, func) == _SPAWN:
                        found.add(name)
    return found


def _is_integer_option(context: PortContext, name: str) -> bool:
    """Return whether the file defines a command-line option of a name whose values are integers from 0 on."""
    found = []
    for statement in context.fixes.index.statements:
        if "add_argument" in statement.mentions and name in statement.text.replace("-", "_"):
            found += [_is_integer(one) for one in descend(statement.tree) if _defines_option(one, name)]
    return bool(found) and all(found)


def _defines_option(node: cst.CSTNode, name: str) -> bool:
    """Return whether a node is a call of `add_argument` for an option of a name."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="add_argument")), args=args):
            texts = [one.value for one in args if one.keyword is None and isinstance(one.value, cst.SimpleString)]
            values = [string_value(one) for one in texts if isinstance(one, cst.SimpleString)]
            return any(isinstance(one, str) and one.lstrip("-").replace("-", "_") == name for one in values)
    return False


def _is_integer(call: cst.CSTNode) -> bool:
    """Return whether a call of `add_argument` has `type=int` and no default but a number from 0 on."""
    assert isinstance(call, cst.Call)
    keywords = {one.keyword.value: one.value for one in call.args if one.keyword is not None}
    kind, default = keywords.get("type"), keywords.get("default")
    required = isinstance(required_by := keywords.get("required"), cst.Name) and required_by.value == "True"
    return isinstance(kind, cst.Name) and kind.value == "int" and (required or isinstance(default, cst.Integer))


def _parameter_or_bound(node: cst.CSTNode) -> set[str]:
    """Return the names that a node binds, as a parameter or otherwise."""
    return {node.name.value} if isinstance(node, cst.Param) else set(names_bound_by(node))
