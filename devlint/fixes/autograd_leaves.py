"""Fixes for a transfer of a parameter, or of another leaf tensor of autograd, whose result is not a leaf."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Fix
from devlint.fixes.call_edits import find_argument, receiver_of, remove_method_call, set_argument
from devlint.fixes.edits import insert_after, replace_node, text_with_call, wrap_node
from devlint.fixes.fix_context import NodeRegion
from devlint.fixes.import_edits import full_name, write_library_name
from devlint.fixes.transfer_targets import transfer_target


def make_parameter(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that makes the result of a transfer an `nn.Parameter`.

    `nn.Parameter(t).to(device)` becomes `nn.Parameter(t.to(device))`. If the receiver of the transfer is any other
    expression, the transfer is wrapped in `nn.Parameter(...)`.
    """
    receiver = receiver_of(call)
    if isinstance(receiver, cst.Call) and full_name(region, receiver.func) == "torch.nn.Parameter" and receiver.args:
        inner = receiver.args[0].value
        suffix = region.context.text[region.span_with_parentheses(receiver)[1] : region.span(call)[1]]
        edits = (replace_node(region, inner, text_with_call(region, inner, suffix)), remove_method_call(region, call))
        return Fix("Move the tensor that becomes a parameter", Applicability.UNSAFE, edits)
    parameter, imported = write_library_name(region, call, "torch.nn.Parameter")
    return Fix(
        "Make a parameter of the result",
        Applicability.UNSAFE,
        (*imported, *wrap_node(region, call, f"{parameter}(", ")")),
    )


def make_leaf(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that makes the result of a transfer a leaf tensor of autograd.

    If the transferred tensor comes from a factory call with `requires_grad=`, the factory creates the tensor on the
    target device. The result of any other transfer gets `.detach().requires_grad_()`.
    """
    receiver, target = receiver_of(call), transfer_target(region, call)
    if (
        isinstance(receiver, cst.Call)
        and full_name(region, receiver.func).startswith("torch.")
        and find_argument(receiver, "requires_grad") is not None
        and target.device is not None
        and target.dtype is None
    ):
        edits = (set_argument(region, receiver, "device", target.device), remove_method_call(region, call))
        return Fix(f"Create the tensor on `{target.device}`", Applicability.UNSAFE, edits)
    edit = insert_after(region, call, ".detach().requires_grad_()")
    return Fix("Call `.requires_grad_()` after the move", Applicability.UNSAFE, (edit,))
