"""The port of the place where a program chooses its device: it asks for any accelerator instead of for CUDA."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Edit
from devlint.fixes.device_names import AVAILABLE, CUDA_AVAILABLE, CURRENT
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.fixes.torch_names import TorchNames
from devlint.port.cuda_uses import Port
from devlint.port.device_spellings import device_spelling
from devlint.port.port_context import PortContext, replace_text
from devlint.syntax.string_literals import string_value
from devlint.syntax.tree_walk import descend


def choice_around(names: TorchNames, region: NodeRegion, node: cst.CSTNode) -> cst.If | cst.IfExp | None:
    """Return the choice of a device that a node is part of; None for a node in no such choice.

    A choice is `"cuda" if torch.cuda.is_available() else "cpu"`, or the same as an `if` statement that only assigns
    devices.
    """
    for above in region.ancestors(node):
        match above:
            case cst.IfExp(test=test, body=body, orelse=orelse):
                if _asks_for_cuda(names, region, test) and _is_device(body, "cuda") and _is_device(orelse, "cpu"):
                    return above
            case cst.If(test=test, body=body, orelse=orelse) if _asks_for_cuda(names, region, test):
                chosen = _devices_assigned(body, "cuda")
                other = [] if orelse is None else _devices_assigned(orelse.body, "cpu") if _is_else(orelse) else None
                is_elif = isinstance(above_if := region.parent(above), cst.If) and above_if.orelse is above
                if chosen and other is not None and not is_elif:
                    return above
    return None


def _is_else(node: cst.CSTNode) -> bool:
    """Return whether the other branch of an `if` statement is a plain `else`."""
    return isinstance(node, cst.Else)


def _asks_for_cuda(names: TorchNames, region: NodeRegion, test: cst.CSTNode) -> bool:
    """Return whether a condition demands that `torch.cuda.is_available()`, alone or together with others."""
    return _check_in(names, region, test) is not None


def _check_in(names: TorchNames, region: NodeRegion, test: cst.CSTNode) -> cst.Call | None:
    """Return the call of `torch.cuda.is_available` that a condition demands to be true; None without one."""
    match test:
        case cst.Call(func=func, args=[]) if names.full_name(region, func) == CUDA_AVAILABLE:
            return test
        case cst.BooleanOperation(left=left, operator=cst.And(), right=right):
            return _check_in(names, region, left) or _check_in(names, region, right)
    return None


def _is_device(node: cst.CSTNode, type_: str) -> bool:
    """Return whether an expression is a string for a device of a type, or `torch.device` of one."""
    match node:
        case cst.SimpleString():
            text = string_value(node)
            return isinstance(text, str) and text.partition(":")[0] == type_
        case cst.Call(func=cst.Name(value="device") | cst.Attribute(attr=cst.Name(value="device")), args=[one, *_]):
            return _is_device(one.value, type_)
        case cst.BinaryOperation(left=text) | cst.Call(func=cst.Attribute(value=text, attr=cst.Name(value="format"))):
            return isinstance(text, cst.SimpleString) and _is_device(text, type_)
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return text.partition(":")[0] == type_
    return False


def _devices_assigned(suite: cst.CSTNode, type_: str) -> list[cst.CSTNode] | None:
    """Return the devices of a type that the statements of a block assign; None if one of them does anything else."""
    found: list[cst.CSTNode] = []
    for statement in getattr(suite, "body", ()):
        match statement:
            case cst.SimpleStatementLine(body=[cst.Assign(value=value)]) | cst.Assign(value=value):
                if not _is_device(value, type_):
                    return None
                found.append(value)
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Call(func=func))]):
                # Messages do not matter.
                if not isinstance(func, cst.Name) or func.value != "print":
                    return None
            case _:
                return None
    return found


def port_choice(context: PortContext, region: NodeRegion, choice: cst.If | cst.IfExp) -> Port:
    """Return the port of a choice of a device: the check, and each device of CUDA in it.

    A `torch.device` is written as the one that a port makes, so that the files of a program look alike.

    It may stand where the program must not ask for devices yet: on CUDA the new check calls the old one, and naming the
    accelerator reaches no driver.
    """
    check = _check_in(context.names, region, choice.test)
    assert check is not None
    asked, imports = context.library(region, check, AVAILABLE)
    edits: list[Edit] = [*imports, replace_node(region, check.func, asked)]
    around = _device_around(context.names, region, choice)
    for node in _texts(choice.body):
        current, more = context.library(region, node, CURRENT)
        found = device_spelling(node)
        if found is None:
            continue
        call = _device_of(context.names, region, node) if found.is_current else None
        edits += more
        if around is not None and isinstance(choice, cst.IfExp):
            edits += _unwrapped(region, around, choice, f"{current}()")
        elif call is not None:
            edits.append(replace_node(region, call, f"{current}()"))
        else:
            edits.append(replace_text(region, node, found.text_for(f"{current}().type")))
    return Port("the accelerator where there is one", edits)


def _device_of(names: TorchNames, region: NodeRegion, node: cst.CSTNode) -> cst.Call | None:
    """Return the call `torch.device(node)` around an expression; None where there is none."""
    argument = region.parent(node)
    call = region.parent(argument) if isinstance(argument, cst.Arg) and not argument.star else None
    if isinstance(call, cst.Call) and len(call.args) == 1 and names.full_name(region, call.func) == "torch.device":
        return call
    return None


def _device_around(names: TorchNames, region: NodeRegion, choice: cst.If | cst.IfExp) -> cst.Call | None:
    """Return the call `torch.device("cuda" if ... else "cpu")` around a choice that can do without it.

    That is so where the choice may take the place of the call as it is: it stands on one line, and needs no parentheses
    there. None otherwise.
    """
    if not isinstance(choice, cst.IfExp) or choice.lpar or not isinstance(choice.orelse, cst.SimpleString):
        return None
    call, spelling = _device_of(names, region, choice), device_spelling(choice.body)
    if call is None or call.lpar or spelling is None or not spelling.is_current:
        return None
    start, end = region.span(call)
    if "\n" in region.context.text[start:end] or string_value(choice.orelse) != "cpu":
        return None
    holds = isinstance(region.parent(call), (cst.Assign, cst.AnnAssign, cst.Return, cst.Arg, cst.Param))
    return call if holds else None


def _unwrapped(region: NodeRegion, call: cst.Call, choice: cst.IfExp, current: str) -> Iterator[Edit]:
    """Yield the edits that make `current if ... else torch.device("cpu")` of a call of `torch.device` with a choice."""
    text = region.context.text
    (start, end), (_, chosen) = region.span(call), region.span_with_parentheses(choice.body)
    host, last = region.span_with_parentheses(choice.orelse)
    function = text[slice(*region.span(call.func))]
    blank = " " if text[chosen : chosen + 1].isalnum() else ""
    yield region.context.edit(start, chosen, f"{current}{blank}")
    blank = " " if text[host - 1].isalnum() else ""
    yield region.context.edit(host, end, f"{blank}{function}({text[host:last]})")


def _texts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the string literals in code."""
    for one in (node, *descend(node)):
        if isinstance(one, (cst.SimpleString, cst.FormattedString)):
            yield one
