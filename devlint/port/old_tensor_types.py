"""The port of the old tensor types of CUDA: `torch.cuda.FloatTensor(...)` and `x.type(torch.cuda.FloatTensor)`."""

from __future__ import annotations

import re

import libcst as cst

from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion
from devlint.port.cuda_uses import LeftForHuman, Port
from devlint.port.port_context import PortContext
from devlint.semantics.accelerators import Replacement

_DTYPE = re.compile(r"dtype=(torch\.\w+)")
"""The dtype of a tensor type, as its replacement names it."""


def port_tensor_type(
    context: PortContext, region: NodeRegion, node: cst.CSTNode, call: cst.Call | None, by: Replacement
) -> Port:
    """Return the port of a mention of a tensor type: a construction of a tensor, or a conversion to the type."""
    found = _DTYPE.search(by.by)
    assert found is not None
    dtype, imports = context.library(region, node, found[1])
    if call is not None:
        factory, more = context.library(region, node, f"torch.{_factory(call)}")
        start, end = region.span(node)[0], region.span(call)[1]
        arguments = ", ".join(region.code(one.value) for one in call.args)
        new = f"{factory}({arguments}, dtype={dtype}, device={context.device(region, node).text})"
        if "#" in region.context.text[start:end]:
            raise LeftForHuman("a comment is in the way")
        return Port(new, [*imports, *more, region.context.edit(start, end, new)])
    conversion = _conversion_to(region, node)
    if conversion is None:
        raise LeftForHuman("a tensor type is passed on, which stands for a dtype and a device")
    assert isinstance(conversion.func, cst.Attribute)
    if context.traits.has_many_devices:
        raise LeftForHuman("`type` leaves a tensor on its CUDA device, and `to` would move it to the current one")
    device = context.device(region, node).text
    name = replace_node(region, conversion.func.attr, "to")
    target = replace_node(region, conversion.args[0], f"device={device}, dtype={dtype}")
    return Port(f".to(device={device}, dtype={dtype})", [*imports, name, target])


def _factory(call: cst.Call) -> str:
    """Return the function that makes the same tensor as a tensor type: `empty` for sizes, `tensor` for data."""
    values = [one.value for one in call.args]
    if any(one.star or one.keyword is not None for one in call.args) or not values:
        raise LeftForHuman("its arguments do not tell whether they are sizes or data")
    if len(values) > 1 or isinstance(values[0], cst.Integer) or _is_size(values[0]):
        return "empty"
    if len(values) == 1 and isinstance(values[0], (cst.List, cst.ListComp)):
        return "tensor"
    raise LeftForHuman("its arguments do not tell whether they are sizes or data")


def _conversion_to(region: NodeRegion, node: cst.CSTNode) -> cst.Call | None:
    """Return the call `x.type(...)` whose only argument a node is; None for another node."""
    argument = region.parent(node)
    call = region.parent(argument) if isinstance(argument, cst.Arg) else None
    match call:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="type")), args=[only]) if only is argument:
            return call
    return None


def _is_size(node: cst.CSTNode) -> bool:
    """Return whether an expression is the size of a tensor: `torch.Size(...)`, `x.size()` or `x.shape`."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="Size"))):
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="size")), args=[]):
            return True
        case cst.Attribute(attr=cst.Name(value="shape")):
            return True
    return False
