"""What does nothing, or undoes what was done, is left out."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.calls import drop_method, find_argument, method_name, receiver_of
from devlint.fixes.edits import method_text, replace
from devlint.fixes.imports import full_name
from devlint.fixes.sheet import Part, Sheet, Unfit, node_at
from devlint.fixes.statements import take_out
from devlint.values.trace import Place


def drop_transfer(part: Part, call: cst.CSTNode) -> Edit:
    """The transfer without its statement, where that only rebinds the variable or does nothing else."""
    receiver, statement = receiver_of(call), part.parent(call)
    match statement:
        case cst.Expr():
            return take_out(part, statement)
        case cst.Assign(targets=[cst.AssignTarget(target=target)]) if target.deep_equals(receiver):
            return take_out(part, statement)
    return drop_method(part, call)


def drop_first(part: Part, call: cst.CSTNode) -> Edit:
    """`x.cuda().to(device)` becomes `x.to(device)`."""
    return drop_method(part, receiver_of(call))


def drop_both(sheet: Sheet, out: Place, back: Place) -> Fix:
    """A way out and the way back are left out together."""
    edits = tuple(drop_transfer(sheet.part(one), node_at(one)) for one in (out, back))
    return Fix("Leave both transfers out", Applicability.UNSAFE, edits)


def copy_tensor(part: Part, call: cst.CSTNode) -> Fix:
    """`torch.tensor(t)` of a tensor becomes `t.detach().clone()`, moved and cast as the call would have done."""
    if not isinstance(call, cst.Call) or not call.args or any(one.star for one in call.args):
        raise Unfit
    source = call.args[0].value
    if call.args[0].keyword is not None:
        raise Unfit
    suffix = ".detach().clone()" + _further(part, call)
    return Fix("Copy it", Applicability.SAFE, (replace(part, call, method_text(part, source, suffix)),))


def stay_in_torch(part: Part, call: cst.CSTNode) -> Fix:
    """`torch.tensor(t.cpu().numpy())` becomes `t.detach().cpu().clone()`: the same values, without NumPy."""
    if not isinstance(call, cst.Call) or len(call.args) == 0:
        raise Unfit
    read = call.args[0].value
    if method_name(read) != "numpy" or find_argument(call, "data") is not None:
        raise Unfit
    source = receiver_of(read)
    while method_name(source) in ("cpu", "detach"):
        source = receiver_of(source)
    copied = ".clone()" if full_name(part, call.func) == "torch.tensor" else ""
    text = method_text(part, source, f".detach().cpu(){copied}{_further(part, call)}")
    return Fix("Stay in torch", Applicability.UNSAFE, (replace(part, call, text),))


def _further(part: Part, call: cst.Call) -> str:
    """The methods that do what the further arguments of a factory ask for."""
    methods = ""
    wanted = []
    for argument in call.args[1:]:
        name = argument.keyword.value if argument.keyword is not None else ""
        code = part.code(argument.value)
        if name in ("device", "dtype") and code != "None":
            wanted.append(f"{name}={code}")
        elif name == "requires_grad":
            methods = f".requires_grad_({code})"
        elif name not in ("device", "dtype"):
            raise Unfit
    return (f".to({', '.join(wanted)})" if wanted else "") + methods
