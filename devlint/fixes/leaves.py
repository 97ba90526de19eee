"""Leaves of autograd, and parameters, that a transfer would make something else of."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.calls import drop_method, find_argument, receiver_of, set_argument
from devlint.fixes.edits import behind, method_text, replace, wrap
from devlint.fixes.imports import full_name, spell
from devlint.fixes.sheet import NodeRegion
from devlint.fixes.transfers import target_of


def keep_parameter(part: NodeRegion, call: cst.CSTNode) -> Fix:
    """`nn.Parameter(t).to(device)` becomes `nn.Parameter(t.to(device))`."""
    receiver = receiver_of(call)
    if isinstance(receiver, cst.Call) and full_name(part, receiver.func) == "torch.nn.Parameter" and receiver.args:
        inner = receiver.args[0].value
        suffix = part.sheet.text[part.around(receiver)[1] : part.span(call)[1]]
        edits = (replace(part, inner, method_text(part, inner, suffix)), drop_method(part, call))
        return Fix("Move the tensor that becomes a parameter", Applicability.UNSAFE, edits)
    parameter, imported = spell(part, call, "torch.nn.Parameter")
    return Fix(
        "Make a parameter of the result", Applicability.UNSAFE, (*imported, *wrap(part, call, f"{parameter}(", ")"))
    )


def keep_leaf(part: NodeRegion, call: cst.CSTNode) -> Fix:
    """A factory makes the leaf where it is wanted; any other transfer makes a leaf of what it returns."""
    receiver, target = receiver_of(call), target_of(part, call)
    if (
        isinstance(receiver, cst.Call)
        and full_name(part, receiver.func).startswith("torch.")
        and find_argument(receiver, "requires_grad") is not None
        and target.device is not None
        and target.dtype is None
    ):
        edits = (set_argument(part, receiver, "device", target.device), drop_method(part, call))
        return Fix(f"Make it on `{target.device}`", Applicability.UNSAFE, edits)
    edit = behind(part, call, ".detach().requires_grad_()")
    return Fix("Make a leaf of the moved tensor", Applicability.UNSAFE, (edit,))
