"""Accelerators that are written out give way to a choice: the accelerator where there is one, the host elsewhere."""

from __future__ import annotations

import re
from typing import Final

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.calls import method_name
from devlint.fixes.edits import replace
from devlint.fixes.imports import spell
from devlint.fixes.sheet import NodeRegion, NoFix
from devlint.fixes.transfers import ACCELERATORS, target_of

ASKED: Final = {
    "cuda": "torch.cuda.is_available",
    "xpu": "torch.xpu.is_available",
    "mps": "torch.backends.mps.is_available",
}
"""The functions that tell whether there is one."""

_NAMED: Final = re.compile(r"(['\"])(cuda|xpu|mps)(:\d+)?\1")


def ask_for_accelerator(part: NodeRegion, node: cst.CSTNode) -> Fix:
    """`"cuda"` becomes `"cuda" if torch.cuda.is_available() else "cpu"`, and `x.cuda()` a transfer to that."""
    if isinstance(node, cst.SimpleString) and isinstance(part.parent(node), cst.Arg):
        device, imported = _choice(part, node, part.code(node))
        edits: tuple[Edit, ...] = (*imported, replace(part, node, device))
    elif isinstance(node, cst.Call) and method_name(node) in ACCELERATORS:
        edits = _transfer(part, node)
    else:
        raise NoFix
    return Fix("Take it where there is one, and the host elsewhere", Applicability.UNSAFE, edits)


def _transfer(part: NodeRegion, call: cst.Call) -> tuple[Edit, ...]:
    assert isinstance(call.func, cst.Attribute)
    written = target_of(part, call).device
    rest = [one for one in call.args if one.keyword is not None and one.keyword.value != "device"]
    if written is None or len(call.args) - len(rest) > 1:
        raise NoFix
    device, imported = _choice(part, call, written)
    start, end = part.span(call.func.attr)[0], part.span(call)[1]
    if "#" in part.sheet.text[start:end]:
        raise NoFix
    arguments = ", ".join([device, *(part.sheet.text[slice(*part.span(one))] for one in rest)])
    return (*imported, part.sheet.edit(start, end, f"to({arguments})"))


def _choice(part: NodeRegion, node: cst.CSTNode, written: str) -> tuple[str, tuple[Edit, ...]]:
    """The choice between a device and the host, and the edit that imports what it asks."""
    named = _NAMED.fullmatch(written)
    if named is None:
        raise NoFix
    asked, imported = spell(part, node, ASKED[named[2]])
    return f"{written} if {asked}() else {named[1]}cpu{named[1]}", imported
