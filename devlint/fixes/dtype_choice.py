"""A fix that takes float32 where the backend of a tensor's device has no float64."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.call_edits import method_name
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import full_name, write_library_name

_DOUBLE = frozenset({"torch.float64", "torch.double"})


def take_float32(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that writes float32 in a call which makes or casts a tensor as float64. Raises NoFix elsewhere."""
    if not isinstance(call, cst.Call):
        raise NoFix
    if method_name(call) == "double" and isinstance(call.func, cst.Attribute) and not call.args:
        return _fix(region, call.func.attr, "float", ())
    for argument in call.args:
        is_dtype = argument.keyword.value == "dtype" if argument.keyword else method_name(call) in ("to", "type")
        if is_dtype and full_name(region, argument.value) in _DOUBLE:
            name, imported = write_library_name(region, call, "torch.float32")
            return _fix(region, argument.value, name, imported)
    raise NoFix


def _fix(region: NodeRegion, node: cst.CSTNode, written: str, imported: tuple[Edit, ...]) -> Fix:
    """Return the fix that writes another dtype at a node."""
    return Fix("Write float32", Applicability.UNSAFE, (*imported, replace_node(region, node, written)))
