"""Fixes of a transfer that turns a parameter, or another leaf tensor of autograd, into a non-leaf tensor."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.calls import drop_method, find_argument, receiver_of, set_argument
from devlint.fixes.edits import behind, method_text, replace, wrap
from devlint.fixes.imports import full_name, spell
from devlint.fixes.sheet import NodeRegion
from devlint.fixes.transfers import target_of


def keep_parameter(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that makes the moved tensor a parameter.

    `nn.Parameter(t).to(device)` becomes `nn.Parameter(t.to(device))`. The result of a transfer of any other receiver is
    wrapped in `nn.Parameter(...)`.
    """
    receiver = receiver_of(call)
    if isinstance(receiver, cst.Call) and full_name(region, receiver.func) == "torch.nn.Parameter" and receiver.args:
        inner = receiver.args[0].value
        suffix = region.sheet.text[region.around(receiver)[1] : region.span(call)[1]]
        edits = (replace(region, inner, method_text(region, inner, suffix)), drop_method(region, call))
        return Fix("Move the tensor that becomes a parameter", Applicability.UNSAFE, edits)
    parameter, imported = spell(region, call, "torch.nn.Parameter")
    return Fix(
        "Make a parameter of the result", Applicability.UNSAFE, (*imported, *wrap(region, call, f"{parameter}(", ")"))
    )


def keep_leaf(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that makes the result of a transfer a leaf tensor.

    A factory with `requires_grad=` creates the tensor on the target device; the result of any other transfer gets
    `.detach().requires_grad_()`.
    """
    receiver, target = receiver_of(call), target_of(region, call)
    if (
        isinstance(receiver, cst.Call)
        and full_name(region, receiver.func).startswith("torch.")
        and find_argument(receiver, "requires_grad") is not None
        and target.device is not None
        and target.dtype is None
    ):
        edits = (set_argument(region, receiver, "device", target.device), drop_method(region, call))
        return Fix(f"Make it on `{target.device}`", Applicability.UNSAFE, edits)
    edit = behind(region, call, ".detach().requires_grad_()")
    return Fix("Make a leaf of the moved tensor", Applicability.UNSAFE, (edit,))
