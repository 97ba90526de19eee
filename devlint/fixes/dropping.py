"""What does nothing, or undoes what was done, is left out."""

from __future__ import annotations

from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.placement import Place
from devlint.fixes.calls import drop_method, find_argument, method_name, receiver_of
from devlint.fixes.edits import method_text, replace
from devlint.fixes.imports import full_name
from devlint.fixes.sheet import FixContext, NodeRegion, NoFix, node_at
from devlint.fixes.statements import take_out
from devlint.fixes.transfers import target_of

REBUILDING: Final = frozenset({"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.from_numpy"})
"""Functions that make a tensor of an array as it is."""


def drop_redundant(part: NodeRegion, call: cst.CSTNode, trust: Applicability) -> Fix:
    """A transfer that does nothing is left out."""
    return Fix("Leave the transfer out", trust, (_drop_transfer(part, call),))


def drop_first(part: NodeRegion, call: cst.CSTNode) -> Fix:
    """`x.cuda().to(device)` becomes `x.to(device)`."""
    first = receiver_of(call)
    return Fix("Leave the first transfer out", Applicability.UNSAFE, (_without_transfer(part, first),))


def drop_both(sheet: FixContext, out: Place, back: Place) -> Fix:
    """A way out and the way back are left out together."""
    edits = tuple(_drop_transfer(sheet.part(one), node_at(one)) for one in (out, back))
    return Fix("Leave both transfers out", Applicability.UNSAFE, edits)


def drop_statement(part: NodeRegion, call: cst.CSTNode) -> Edit:
    """A call that is a statement of its own, and not all there is in its block, is left out."""
    statement = part.parent(call)
    if not isinstance(statement, cst.Expr):
        raise NoFix
    edit = take_out(part, statement)
    if edit.content == "pass":
        raise NoFix
    return edit


def _drop_transfer(part: NodeRegion, call: cst.CSTNode) -> Edit:
    """The transfer is left out with its statement, where that only rebinds the variable or does nothing else."""
    receiver, statement = receiver_of(call), part.parent(call)
    if target_of(part, call).dtype is not None:
        raise NoFix
    match statement:
        case cst.Expr():
            return take_out(part, statement)
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) if target.deep_equals(receiver):
            return take_out(part, statement)
    return drop_method(part, call)


def _without_transfer(part: NodeRegion, call: cst.CSTNode) -> Edit:
    if target_of(part, call).dtype is not None:
        raise NoFix
    return drop_method(part, call)


def copy_tensor(part: NodeRegion, call: cst.CSTNode, trust: Applicability) -> Fix:
    """`torch.tensor(t)` of a tensor becomes `t.detach().clone()`, moved and cast as the call would have done."""
    if not isinstance(call, cst.Call) or not call.args or any(one.star for one in call.args):
        raise NoFix
    source = call.args[0].value
    if call.args[0].keyword is not None:
        raise NoFix
    suffix = ".detach().clone()" + _further(part, call)
    return Fix("Copy it", trust, (replace(part, call, method_text(part, source, suffix)),))


def stay_in_torch(part: NodeRegion, call: cst.CSTNode) -> Fix:
    """`torch.tensor(t.cpu().numpy())` becomes `t.detach().cpu().clone()`: the same values, without NumPy."""
    if not isinstance(call, cst.Call) or not call.args or full_name(part, call.func) not in REBUILDING:
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
    suffix += ".clone()" if full_name(part, call.func) == "torch.tensor" else ""
    text = method_text(part, source, suffix + _further(part, call))
    return Fix("Stay in torch", Applicability.UNSAFE, (replace(part, call, text),))


def _further(part: NodeRegion, call: cst.Call) -> str:
    """The methods that do what the further arguments of a factory ask for."""
    methods = ""
    wanted = []
    for argument in call.args[1:]:
        name = argument.keyword.value if argument.keyword is not None else ""
        code = part.code(argument.value)
        if name in ("device", "dtype") and code != "None":
            wanted.append(f"{name}={code}")
        elif name == "requires_grad" and code != "False":
            methods = f".requires_grad_({code})"
        elif name not in ("device", "dtype", "requires_grad"):
            raise NoFix
    return (f".to({', '.join(wanted)})" if wanted else "") + methods
