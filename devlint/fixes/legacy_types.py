"""Fixes for what torch had before it had devices and dtypes: `Variable(x)` and `x.type("torch.cuda.FloatTensor")`."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.call_edits import method_name
from devlint.fixes.device_types import device_in_scope
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import write_library_name
from devlint.semantics.accelerators import Replacement


def leave_variable_out(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that writes the tensor in place of `Variable(tensor)`. Raises NoFix for a call with options."""
    match call:
        case cst.Call(args=[cst.Arg(value=value, star="", keyword=None)]):
            text = region.code(value)
            if "#" in region.context.text[slice(*region.span(call))]:
                raise NoFix
            is_part = isinstance(region.parent(call), (cst.Attribute, cst.Subscript, cst.BinaryOperation))
            is_simple = isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript)) or value.lpar
            written = f"({text})" if is_part and not is_simple else text
            return Fix("Leave `Variable` out", Applicability.UNSAFE, (replace_node(region, call, written),))
    raise NoFix


def convert_to_chosen_device(region: NodeRegion, node: cst.CSTNode, replacement: Replacement) -> Fix:
    """Return a fix that moves a tensor to the program's device, where `x.type(...)` names a tensor type of CUDA.

    `node` is the call, or the name of the type in it.
    """
    call = next((one for one in (node, *region.ancestors(node)) if isinstance(one, cst.Call)), None)
    if call is None or replacement.dtype is None or method_name(call) != "type" or len(call.args) != 1:
        raise NoFix
    if call.args[0].star or node not in (call, call.args[0].value):
        raise NoFix
    assert isinstance(call.func, cst.Attribute)
    device = device_in_scope(region, call)
    name, imported = write_library_name(region, call, replacement.dtype)
    start, end = region.span(call.func.attr)[0], region.span(call)[1]
    if "#" in region.context.text[start:end]:
        raise NoFix
    edits = (*imported, region.context.edit(start, end, f"to({device.text}, {name})"))
    return Fix("Pass the device and the dtype", Applicability.UNSAFE, edits)
