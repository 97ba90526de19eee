"""Fixes that use the parameter `device` of a function, which makes or moves a tensor without it."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.call_edits import find_argument, method_name, set_argument
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import full_name
from devlint.fixes.operand_placement import FACTORIES_WITHOUT_DEVICE
from devlint.interpreter.program.definitions import names_bound_by
from devlint.syntax.tree_walk import descend


def use_device_parameter(region: NodeRegion, node: cst.CSTNode, name: str) -> Fix:
    """Return a fix that passes the parameter `name` of the function around a call to the call.

    The call makes a tensor, or moves it to an accelerator by name. Raises NoFix where the function binds the name anew.
    """
    function = region.enclosing_function(node)
    if not isinstance(node, cst.Call) or function is None:
        raise NoFix
    if all(one.name.value != name for one in (*function.params.params, *function.params.kwonly_params)):
        raise NoFix
    if any(name in names_bound_by(one) for one in descend(function.body)):
        raise NoFix
    return Fix(f"Pass `{name}`", Applicability.UNSAFE, (_edit(region, node, name),))


def _edit(region: NodeRegion, call: cst.Call, name: str) -> Edit:
    """Return the edit that passes a device to a call. Raises NoFix for a call that takes none."""
    method = method_name(call)
    if method == "cuda" and isinstance(call.func, cst.Attribute) and not call.args:
        start, end = region.span(call.func.attr)[0], region.span(call)[1]
        return region.context.edit(start, end, f"to({name})")
    if method == "to":
        target = find_argument(call, "device", 0)
        if target is not None and isinstance(target.value, cst.SimpleString):
            return replace_node(region, target.value, name)
        raise NoFix
    function = full_name(region, call.func)
    if not function.startswith("torch.") or function.rpartition(".")[2] in FACTORIES_WITHOUT_DEVICE:
        raise NoFix
    return set_argument(region, call, "device", name)
