"""Evidence that an expression of unknown value is a tensor, from what the code does with its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from devlint.domain.torch_names import DEVICE_METHODS
from devlint.domain.value import LibraryName, ProgramDefinition, Ref
from devlint.interpreter.objects.evidence import has_module_members, looks_like_tensor, tensors_lack
from devlint.interpreter.program.definitions import FunctionInfo, Parameter
from devlint.interpreter.program.name_events import NameEvents
from devlint.interpreter.program.usage_evidence import is_tensor_method
from devlint.interpreter.state.frame import Frame
from devlint.syntax.tree_walk import descend, dotted_name

_LEAVING: Final = frozenset({cst.Return, cst.Raise, cst.Break, cst.Continue})
"""The statements that leave the path on which they are."""


def is_used_as_tensor(frame: Frame, node: cst.CSTNode) -> bool:
    """Return whether the code around an expression uses its value as only a tensor can be used.

    It is an index, an operand or indexed itself, it is passed to a function that needs a tensor, or it gets a name that
    is used so.
    """
    path = frame.analysis.use_def.path(frame, node)
    above = path[-2] if len(path) > 1 else None
    match above:
        case cst.BinaryOperation() | cst.UnaryOperation() | cst.Comparison() | cst.ComparisonTarget() | cst.Index():
            return True
        case cst.Subscript(slice=elements):
            return not any(_is_key(one.slice) for one in elements)
        case cst.Attribute(attr=cst.Name(value=name)):
            return is_tensor_method(name, path[-3], is_statement=True)
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)]):
            return looks_like_tensor(frame, target)
        case cst.Arg() if isinstance(path[-3], cst.Call):
            return _takes_tensor(frame, path[-3], above)
    return False


def is_input_of_module(frame: Frame, name: cst.Name) -> bool:
    """Return whether the code that runs after a read of a name passes its value to a module or to torch as a tensor.

    A module is seldom the input of another one. The program's own functions take both. A graph or another object that
    is the input of a module has attributes that a tensor lacks.
    """
    paths = [frame.analysis.use_def.path(frame, read) for read in frame.analysis.use_def.reads_after(frame, name)]
    if any(_reads_attribute_of_object(frame, path) for path in paths):
        return False
    for path in paths:
        match path[-3:-1]:
            case [cst.Call(func=function) as call, cst.Arg(star="") as argument]:
                if dotted_name(function) is None or isinstance(frame.evaluate(function), ProgramDefinition):
                    continue
                if has_module_members(frame, function) or _takes_tensor(frame, call, argument):
                    return True
    return False


def _reads_attribute_of_object(frame: Frame, path: Sequence[cst.CSTNode]) -> bool:
    """Return whether the code reads an attribute that a tensor lacks, given the path of nodes to its owner."""
    match path[-2]:
        case cst.Attribute(value=owner, attr=cst.Name(value=name)) if owner is path[-1]:
            return tensors_lack(frame, name)
    return False


def _is_key(element: cst.BaseSlice) -> bool:
    """Return whether an index is a string, as the keys of dicts and batches are."""
    return isinstance(element, cst.Index) and isinstance(element.value, (cst.SimpleString, cst.FormattedString))


def _takes_tensor(frame: Frame, call: cst.Call, argument: cst.Arg) -> bool:
    """Return whether the function or library layer that a call names takes a tensor as the given argument."""
    if dotted_name(call.func) is None or argument.star:
        return False
    callee = frame.evaluate(call.func)
    position = call.args.index(argument) if argument.keyword is None else None
    name = argument.keyword.value if argument.keyword is not None else None
    match callee:
        case LibraryName(name=function):
            row = frame.analysis.table.find(function)
            if row is None:
                return False
            parameters = [one for one in row.params if one != "*"]
            taken = name if position is None else parameters[position] if position < len(parameters) else None
            return taken in row.tensors
        case ProgramDefinition(definition=FunctionInfo() as info, receiver=receiver):
            given = info.parameters[0 if receiver is None else 1 :]
            found = next((one for i, one in enumerate(given) if i == position or one.name == name), None)
            return found is not None and _is_tensor_parameter(info, found)
        case Ref():
            thing = frame.instance(callee)
            return thing is not None and isinstance(thing.cls, str) and thing.cls.startswith("torch.nn.")
    return False


def _is_tensor_parameter(info: FunctionInfo, parameter: Parameter) -> bool:
    """Return whether a function uses a parameter as a tensor, or as an index.

    What has a transfer method and is an index is a tensor.
    """
    if info.evidence.is_tensor(parameter.name, array_like=True):
        return True
    return any(
        isinstance(one, cst.Index) and isinstance(one.value, cst.Name) and one.value.value == parameter.name
        for one in descend(info.node)
    )


def is_differentiated_later(frame: Frame, node: cst.BaseExpression) -> bool:
    """Return whether the program goes on to call `backward()` of what an expression reads, so that autograd tracks it.

    The expression is a name, or one moved to another device (`loss.cpu()`). Nothing between it and the call may bind
    the name to something else or leave the path. A test comes before the branch that it leads to.
    """
    while (
        isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in DEVICE_METHODS
    ):
        node = node.func.value
    if not isinstance(node, cst.Name) or frame.module.has_other_tensors:
        return False
    path = frame.analysis.use_def.path(frame, node)
    for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
        if isinstance(above, (cst.IndentedBlock, cst.SimpleStatementLine)):
            found = _is_differentiated_in(above.body[above.body.index(below) :], node.value)
            if found is not None:
                return found
        elif isinstance(above, cst.If) and below is above.test and isinstance(above.body, cst.IndentedBlock):
            if _is_differentiated_in(above.body.body, node.value):
                return True
        elif isinstance(above, cst.BaseCompoundStatement) and not isinstance(above, (cst.If, cst.With)):
            return False
    return False


def _is_differentiated_in(following: Sequence[cst.CSTNode], name: str) -> bool | None:
    """Return whether statements take the gradient of what a name holds; None if they go on and keep what it holds."""
    for one in (small for each in following for small in _statements_in_line(each)):
        if _calls_backward(one, name):
            return True
        if _leaves_or_binds(one, name) and not _divides(one, name):
            return False
    return None


def differentiated_name(node: cst.CSTNode | None) -> cst.Name | None:
    """Return the name of the tensor of which `backward()` of an expression takes the gradient.

    That is `loss` of `loss`, `loss / steps`, `loss.mean()` and `scaler.scale(loss)`. None for any other expression.
    """
    while not isinstance(node, cst.Name):
        match node:
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="scale")), args=[cst.Arg(value=inner, star="")]):
                node = inner
            case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(value="mean" | "sum")), args=[]):
                node = inner
            case cst.BinaryOperation(left=inner, operator=cst.Divide()):
                node = inner
            case _:
                return None
    return node


def _divides(statement: cst.CSTNode, name: str) -> bool:
    """Return whether a statement binds a name to what it holds, divided: `loss = loss / steps`, `loss /= steps`."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))], value=value):
            source = differentiated_name(value)
            return target == name and source is not None and source.value == name
        case cst.AugAssign(target=cst.Name(value=target), operator=cst.DivideAssign()):
            return target == name
    return False


def _statements_in_line(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """Return the small statements of a line of them; any other statement is alone."""
    return node.body if isinstance(node, cst.SimpleStatementLine) else [node]


def _calls_backward(statement: cst.CSTNode, name: str) -> bool:
    """Return whether a statement is the call `name.backward(...)`, or one such as `(name / 2).backward()`."""
    match statement:
        case cst.Expr(value=cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="backward")))):
            source = differentiated_name(owner)
            return source is not None and source.value == name
    return False


def _leaves_or_binds(statement: cst.CSTNode, name: str) -> bool:
    """Return whether a statement may leave the path that follows it, or binds a name."""
    leaves = any(type(one) in _LEAVING for one in descend(statement))
    return leaves or any(kind == "bind" for kind, _ in NameEvents(statement).of(name))
