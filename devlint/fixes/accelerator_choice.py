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
    device, imported = _device_choice(region, node, _written(region, node))
    return _with_device(region, node, device, imported)


def take_device(region: NodeRegion, node: cst.CSTNode, device: str) -> Fix:
    """Return a fix that writes the expression `device` in place of a hard-coded accelerator."""
    if _ACCELERATOR_LITERAL.fullmatch(_written(region, node)) is None:
        raise NoFix
    return _with_device(region, node, device, ())


def _written(region: NodeRegion, node: cst.CSTNode) -> str:
    """Return the source text of the device that a node names: an argument of a call, or a call such as `x.cuda()`."""
    if isinstance(node, cst.SimpleString) and isinstance(region.parent(node), cst.Arg):
        return region.code(node)
    if not isinstance(node, cst.Call) or method_name(node) not in ACCELERATOR_TRANSFERS:
        raise NoFix
    written = transfer_target(region, node).device
    if written is None:
        raise NoFix
    return written


def _with_device(region: NodeRegion, node: cst.CSTNode, device: str, imported: tuple[Edit, ...]) -> Fix:
    """Return a fix that writes a device where a node names an accelerator, with the edits that import what it needs."""
    if isinstance(node, cst.Call):
        edit, written = _transfer_edit(region, node, device)
    else:
        edit, written = replace_node(region, node, device), device
    return Fix(f"Write `{written}`", Applicability.UNSAFE, (*imported, edit))


def _transfer_edit(region: NodeRegion, call: cst.Call, device: str) -> tuple[Edit, str]:
    """Return the edit that turns `x.cuda(...)` into `x.to(DEVICE, ...)`, and what it writes behind `x`.

    The call keeps its other keyword arguments.
    """
    assert isinstance(call.func, cst.Attribute)
    other_arguments = [one for one in call.args if one.keyword is not None and one.keyword.value != "device"]
    if len(call.args) - len(other_arguments) > 1:
        raise NoFix
    start, end = region.span(call.func.attr)[0], region.span(call)[1]
    if "#" in region.context.text[start:end]:
        raise NoFix
    arguments = ", ".join([device, *(region.context.text[slice(*region.span(one))] for one in other_arguments)])
    return region.context.edit(start, end, f"to({arguments})"), f".to({arguments})"


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
