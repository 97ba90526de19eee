"""The port of `x.cuda(...)`: it becomes `x.to(device)`, or a transfer to the same index of the accelerator."""

from __future__ import annotations

import libcst as cst

from devlint.fixes.call_edits import find_argument
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, LeftInGuard, Port
from devlint.port.device_indexes import is_index
from devlint.port.port_context import PortContext

_OPTIONS = frozenset({"device", "non_blocking", "memory_format"})
"""The keyword arguments that `cuda` and `to` of tensors share."""


def port_transfer(context: PortContext, region: NodeRegion, call: cst.Call) -> Port:
    """Return the port of a call of the method `cuda` of a tensor or a module."""
    assert isinstance(call.func, cst.Attribute)
    receiver = call.func.value
    if isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Name) and receiver.func.value == "super":
        raise LeftInGuard("it is part of a method that moves an object to CUDA")
    if context.traits.has_own_transfers and not _is_torch_call(context, region, receiver):
        raise LeftForHuman("the program has classes with a `cuda` or `to` of their own, which may differ")
    if any(isinstance(one, cst.Lambda) and _is_map_location(region, one) for one in region.ancestors(call)):
        raise LeftForHuman("a function for `map_location` gets storages; give `map_location` a device")
    if any(one.star for one in call.args):
        raise LeftForHuman("its arguments are unpacked")
    keywords = [one for one in call.args if one.keyword is not None]
    if any(one.keyword is not None and one.keyword.value not in _OPTIONS for one in keywords):
        raise LeftForHuman("it has an argument that `to` does not have")
    asked = find_argument(call, "device", 0)
    positional = [one for one in call.args if one.keyword is None]
    if len(positional) > 2 or (len(positional) == 2 and asked is not positional[0]):
        raise LeftForHuman("it has an argument that `to` does not have")
    target = _target(context, region, call, asked.value if asked is not None else None)
    arguments = [target]
    for one in call.args:
        if one is not asked:
            text = region.context.text[slice(*region.span(one))]
            arguments.append(text if one.keyword is not None else f"non_blocking={text}")
    start, end = region.span(call.func.attr)[0], region.span(call)[1]
    if "#" in region.context.text[start:end]:
        raise LeftForHuman("a comment is in the way")
    new = f"to({', '.join(arguments)})"
    return Port(f".{new}", [region.context.edit(start, end, new)])


def _target(context: PortContext, region: NodeRegion, call: cst.Call, asked: cst.BaseExpression | None) -> str:
    """Return the text of the device that replaces the one that a call of `cuda` names, with the same index."""
    if asked is None or (isinstance(asked, cst.Name) and asked.value == "None"):
        return context.device(region, call).text
    if isinstance(asked, (cst.SimpleString, cst.FormattedString)):
        raise LeftForHuman("its device is a text")
    if not is_index(context, region, asked):
        raise LeftForHuman("its argument may be an index, a device or None, and `to` does nothing for None")
    index = region.code(asked)
    if any(mark in index for mark in "\"'{}\\\n"):
        raise LeftForHuman("its index is too long an expression to be put into a text")
    return f'f"{{{context.device(region, call).type_text}}}:{{{index}}}"'.replace(f"{{{index}}}", _index_text(index))


def _index_text(index: str) -> str:
    """Return the text of an index within an f-string: a number as it is, another expression in braces."""
    return index if index.isdecimal() else f"{{{index}}}"


def _is_torch_call(context: PortContext, region: NodeRegion, node: cst.CSTNode) -> bool:
    """Return whether an expression is the result of a function or class of torch, and no object of the program's."""
    if not isinstance(node, cst.Call):
        return False
    name = context.names.full_name(region, node.func)
    if name.startswith("torch."):
        return True
    return isinstance(node.func, cst.Attribute) and _is_torch_call(context, region, node.func.value)


def _is_map_location(region: NodeRegion, function: cst.Lambda) -> bool:
    """Return whether a lambda is passed as `map_location`, by keyword or as the second argument."""
    match region.parent(function):
        case cst.Arg(keyword=cst.Name(value=name)):
            return name == "map_location"
        case cst.Arg(keyword=None) as argument:
            call = region.parent(argument)
            return isinstance(call, cst.Call) and call.args.index(argument) == 1
    return False
