"""A fix that makes a hard-coded accelerator conditional: the accelerator where it is available, otherwise the host."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.call_edits import method_name
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import write_library_name
from devlint.fixes.transfer_targets import ACCELERATOR_TRANSFERS, transfer_target

AVAILABILITY_CHECKS: Final = {
    "cuda": "torch.cuda.is_available",
    "xpu": "torch.xpu.is_available",
    "mps": "torch.backends.mps.is_available",
}
"""The torch functions that return whether an accelerator is available, by the type of its device."""

_ACCELERATOR_LITERAL: Final = re.compile(r"(['\"])(cuda|xpu|mps)(:\d+)?\1")
"""A string literal that names an accelerator: the quote, the device type and the index."""


def check_availability(region: NodeRegion, node: cst.CSTNode) -> Fix:
    """Return a fix that makes a hard-coded accelerator depend on its availability.

    `"cuda"` becomes `"cuda" if torch.cuda.is_available() else "cpu"`, and `x.cuda()` a transfer to that choice.
    """
    if isinstance(node, cst.SimpleString) and isinstance(region.parent(node), cst.Arg):
        device, imported = _device_choice(region, node, region.code(node))
        edits: tuple[Edit, ...] = (*imported, replace_node(region, node, device))
    elif isinstance(node, cst.Call) and method_name(node) in ACCELERATOR_TRANSFERS:
        edits = _transfer_edits(region, node)
    else:
        raise NoFix
    return Fix("Use the accelerator where there is one, else the host", Applicability.UNSAFE, edits)


def _transfer_edits(region: NodeRegion, call: cst.Call) -> tuple[Edit, ...]:
    """Return the edits that turn `x.cuda(...)` into `x.to(DEVICE, ...)` and keep the call's other keyword arguments.

    DEVICE is an expression that chooses the accelerator where it is available, otherwise the host.
    """
    assert isinstance(call.func, cst.Attribute)
    written = transfer_target(region, call).device
    other_arguments = [one for one in call.args if one.keyword is not None and one.keyword.value != "device"]
    if written is None or len(call.args) - len(other_arguments) > 1:
        raise NoFix
    device, imported = _device_choice(region, call, written)
    start, end = region.span(call.func.attr)[0], region.span(call)[1]
    if "#" in region.context.text[start:end]:
        raise NoFix
    arguments = ", ".join([device, *(region.context.text[slice(*region.span(one))] for one in other_arguments)])
    return (*imported, region.context.edit(start, end, f"to({arguments})"))


def _device_choice(region: NodeRegion, node: cst.CSTNode, written: str) -> tuple[str, tuple[Edit, ...]]:
    """Return the source text of an expression such as `"cuda" if torch.cuda.is_available() else "cpu"`.

    The edits that import torch, where that is necessary, are returned with it. Raises NoFix if `written` is not a
    string literal that names an accelerator.
    """
    literal = _ACCELERATOR_LITERAL.fullmatch(written)
    if literal is None:
        raise NoFix
    is_available, imported = write_library_name(region, node, AVAILABILITY_CHECKS[literal[2]])
    return f"{written} if {is_available}() else {literal[1]}cpu{literal[1]}", imported
