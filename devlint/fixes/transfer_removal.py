"""Fixes that remove transfers without effect, pairs of transfers that cancel out, and detours through NumPy arrays."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place
from devlint.fixes.call_edits import find_argument, method_name, receiver_of, remove_method_call
from devlint.fixes.edits import replace_node, text_with_call
from devlint.fixes.fix_context import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.import_edits import full_name
from devlint.fixes.statement_edits import remove_statement
from devlint.fixes.transfer_targets import transfer_target

REBUILDING_FUNCTIONS: Final = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy"})
"""Functions that make a tensor of an array without changing its values."""


def remove_transfer(region: NodeRegion, call: cst.CSTNode, trust: Applicability) -> Fix:
    """Return a fix that removes a transfer without effect, such as one to the device on which the tensor already is."""
    return Fix("Leave the transfer out", trust, (_drop_transfer(region, call),))


def remove_first_transfer(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that removes the first of two chained transfers: `x.cuda().to(device)` becomes `x.to(device)`."""
    first = receiver_of(call)
    return Fix("Leave the first transfer out", Applicability.UNSAFE, (_without_transfer(region, first),))


def remove_round_trip(context: FixContext, out: Place, back: Place) -> Fix:
    """Return a fix that removes two transfers: `out`, and the later transfer `back` that undoes it."""
    edits = tuple(_drop_transfer(context.region_at(one), node_at(one)) for one in (out, back))
    return Fix("Leave both transfers out", Applicability.UNSAFE, edits)


def take_first_tensor(region: NodeRegion, back: cst.CSTNode) -> Fix:
    """Return a fix that writes `t` for `torch.tensor(t.cpu().numpy()).cuda()`, where `back` is the last transfer."""
    rebuilt = receiver_of(back)
    if transfer_target(region, back).dtype is not None or not isinstance(rebuilt, cst.Call) or len(rebuilt.args) != 1:
        raise NoFix
    if full_name(region, rebuilt.func) not in REBUILDING_FUNCTIONS:
        raise NoFix
    source = rebuilt.args[0].value
    for method in ("numpy", "cpu"):
        if method_name(source) != method:
            raise NoFix
        source = receiver_of(source)
    written = region.code(source)
    return Fix(f"Write `{written}`", Applicability.UNSAFE, (replace_node(region, back, written),))


def remove_call_statement(region: NodeRegion, call: cst.CSTNode) -> Edit:
    """Return the edit that removes a statement which is only a call.

    Raises NoFix for a call within a larger statement, and for a statement that is the only one of its block.
    """
    statement = region.parent(call)
    if not isinstance(statement, cst.Expr):
        raise NoFix
    edit = remove_statement(region, statement)
    if edit.content == "pass":
        raise NoFix
    return edit


def _drop_transfer(region: NodeRegion, call: cst.CSTNode) -> Edit:
    """Return the edit that removes a transfer, and its whole statement if the statement does nothing else.

    The statement is removed when it discards the result of the transfer or assigns it to the receiver. Raises NoFix for
    a transfer that also casts.
    """
    receiver, statement = receiver_of(call), region.parent(call)
    if transfer_target(region, call).dtype is not None:
        raise NoFix
    match statement:
        case cst.Expr():
            return remove_statement(region, statement)
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) if target.deep_equals(receiver):
            return remove_statement(region, statement)
    return remove_method_call(region, call)


def _without_transfer(region: NodeRegion, call: cst.CSTNode) -> Edit:
    """Return the edit that removes a transfer and keeps its receiver: `x.cuda()` becomes `x`.

    Raises NoFix for a transfer that also casts.
    """
    if transfer_target(region, call).dtype is not None:
        raise NoFix
    return remove_method_call(region, call)


def clone_tensor(region: NodeRegion, call: cst.CSTNode, trust: Applicability) -> Fix:
    """Return a fix that turns `torch.tensor(t)`, where `t` is a tensor, into `t.detach().clone()`.

    The arguments `device=` and `dtype=` become a call of `.to(...)`.
    """
    if not isinstance(call, cst.Call) or not call.args or any(one.star for one in call.args):
        raise NoFix
    source = call.args[0].value
    if call.args[0].keyword is not None:
        raise NoFix
    suffix = ".detach().clone()" + _argument_suffix(region, call)
    return Fix(
        f"Copy the tensor with `{suffix}`", trust, (replace_node(region, call, text_with_call(region, source, suffix)),)
    )


def clone_without_numpy(region: NodeRegion, call: cst.CSTNode) -> Fix:
    """Return a fix that removes a detour through a NumPy array when a tensor is copied.

    `torch.tensor(t.cpu().numpy())` becomes `t.detach().cpu().clone()`, which has the same values.
    """
    if not isinstance(call, cst.Call) or not call.args or full_name(region, call.func) not in REBUILDING_FUNCTIONS:
        raise NoFix
    read = call.args[0].value
    if method_name(read) != "numpy" or find_argument(call, "data") is not None:
        raise NoFix
    source, on_host = receiver_of(read), isinstance(read, cst.Call) and bool(read.args)
    while method_name(source) in ("cpu", "detach"):
        on_host = on_host or method_name(source) == "cpu"
        source = receiver_of(source)
    suffix = ".detach()"
    suffix += ".cpu()" if on_host and find_argument(call, "device") is None else ""
    suffix += ".clone()" if full_name(region, call.func) == "torch.tensor" else ""
    text = text_with_call(region, source, suffix + _argument_suffix(region, call))
    return Fix("Copy the tensor without NumPy", Applicability.UNSAFE, (replace_node(region, call, text),))


def _argument_suffix(region: NodeRegion, call: cst.Call) -> str:
    """Return the text of method calls with the same effect as the arguments of a factory call after the first.

    For `torch.tensor(t, device=d)` it is `.to(device=d)`. Raises NoFix for an argument other than `device`, `dtype` and
    `requires_grad`.
    """
    methods = ""
    conversion = []
    for argument in call.args[1:]:
        name = argument.keyword.value if argument.keyword is not None else ""
        code = region.code(argument.value)
        if name in ("device", "dtype") and code != "None":
            conversion.append(f"{name}={code}")
        elif name == "requires_grad" and code != "False":
            methods = f".requires_grad_({code})"
        elif name not in ("device", "dtype", "requires_grad"):
            raise NoFix
    return (f".to({', '.join(conversion)})" if conversion else "") + methods
