"""Fixes that take the type of the program's device, where code names one backend for process groups or autocast."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.call_edits import find_argument
from devlint.fixes.device_names import DeviceName, DeviceNames
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import write_library_name
from devlint.fixes.torch_names import TorchNames
from devlint.semantics.accelerators import Replacement, replacements_of

_POSITIONAL: Final = {"torch.cuda.amp.autocast": ("enabled", "dtype", "cache_enabled")}
"""The parameters of functions whose replacement has them in another order: they are passed by keyword then."""
_DEFAULT_BACKEND: Final = "torch.distributed.get_default_backend_for_device"


def device_in_scope(region: NodeRegion, node: cst.CSTNode) -> DeviceName:
    """Return a name that holds the device which the program chooses, visible at a node. Raises NoFix without one."""
    names = DeviceNames(region.context, TorchNames(region.context), constants_are_ported=False)
    found = names.visible_at(region, node)
    if found is None:
        raise NoFix
    return found


def take_backend_of_device(region: NodeRegion, call: cst.CSTNode, keyword: str, position: int) -> Fix:
    """Return a fix that passes the backend of the program's device to a call which makes process groups."""
    argument = find_argument(call, keyword, position) if isinstance(call, cst.Call) else None
    if argument is None or not isinstance(argument.value, cst.SimpleString):
        raise NoFix
    device = device_in_scope(region, call)
    function, imported = write_library_name(region, call, _DEFAULT_BACKEND)
    written = f"{function}({device.text})"
    return Fix(f"Pass `{written}`", Applicability.UNSAFE, (*imported, replace_node(region, argument.value, written)))


def take_type_of_device(region: NodeRegion, call: cst.CSTNode, function: str, keyword: str, position: int) -> Fix:
    """Return a fix that passes the type of the program's device to autocast or a gradient scaler.

    `function` is the qualified name of what is called. A function of `torch.cuda` becomes the one of `torch.amp`.
    """
    if not isinstance(call, cst.Call) or any(one.star for one in call.args):
        raise NoFix
    type_ = device_in_scope(region, call).type_text
    replaced = replacements_of(function)
    if replaced:
        name, imported = write_library_name(region, call, replaced[0].by)
        edits = [*imported, replace_node(region, call.func, name), *type_edits(region, call, type_, replaced[0])]
    else:
        argument = find_argument(call, keyword, position)
        if argument is None or not isinstance(argument.value, cst.SimpleString):
            raise NoFix
        edits = [replace_node(region, argument.value, type_)]
    return Fix(f"Pass `{type_}`", Applicability.UNSAFE, tuple(edits))


def type_edits(region: NodeRegion, call: cst.Call, type_: str, by: Replacement) -> list[Edit]:
    """Return the edits that pass the type of a device, a source text, to what replaces the function of a call."""
    first = type_ if by.keyword is None else f"{by.keyword}={type_}"
    if not call.args:
        end = region.span(call)[1] - 1
        return [region.context.edit(end, end, first)]
    if by.keyword is not None:
        last = region.span(call.args[-1])[1]
        return [region.context.edit(last, last, f", {first}")]
    edits = []
    names = _POSITIONAL.get(by.name, ())
    for place, one in enumerate(call.args):
        start = region.span(one)[0]
        prefix = f"{first}, " if place == 0 else ""
        if one.keyword is None and names:
            prefix += f"{names[place]}=" if place < len(names) else ""
        if prefix:
            edits.append(region.context.edit(start, start, prefix))
    return edits
