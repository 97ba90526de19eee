"""A fix that replaces a string that is no valid device by the device that the author probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import replace_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.syntax.tree_walk import descend

MISSPELLED_DEVICE = re.compile(r"(?i)\s*(gpu|cuda|nvidia)[\s:_-]*(\d*)\s*")
"""A misspelled accelerator, such as `gpu0` or `CUDA 1`, with its index."""


def probable_device(written: str) -> str | None:
    """Return the device that a misspelled string probably means, `cuda:0` for `gpu0`.

    Returns None if the meaning is unclear.
    """
    match = MISSPELLED_DEVICE.fullmatch(written)
    if match is None:
        return None
    return f"cuda:{int(match[2])}" if match[2] else "cuda"


def correct_device(region: NodeRegion, node: cst.CSTNode, written: str) -> Fix:
    """Return a fix that corrects an invalid device string, where it is used or where the file assigns it to a variable.

    A doubled prefix is removed, `.cuda("cpu")` becomes `.cpu()`, and `gpu0` becomes `cuda:0`. Raises NoFix for any
    other string, and when more than one string would have to change.
    """
    doubled = [
        edit for one in (node, *descend(node)) if (edit := _doubled_prefix_edit(region, one, written)) is not None
    ]
    if len(doubled) == 1:
        return Fix("Leave out the doubled prefix", Applicability.UNSAFE, (doubled[0],))
    call = _cuda_call(region, node)
    if call is not None and isinstance(call.func, cst.Attribute) and written.startswith("cpu"):
        start, _ = region.span(call.func.attr)
        edit = region.context.edit(start, region.span(call)[1], "cpu()")
        return Fix("Call `.cpu()`", Applicability.UNSAFE, (edit,))
    correction = probable_device(written)
    if correction is None:
        raise NoFix
    edits = tuple(_literal_edits(region, node, written, correction))
    if len(edits) != 1:
        raise NoFix
    return Fix(f'Write "{correction}"', Applicability.UNSAFE, edits)


def _doubled_prefix_edit(region: NodeRegion, node: cst.CSTNode, written: str) -> Edit | None:
    """Return the edit that removes the doubled prefix of an invalid device such as `cuda:cuda:0`.

    `f"cuda:{device}"` becomes `device` where the value of `device` is "cuda:0". Returns None if the node does not add a
    prefix.
    """
    prefix = written.partition(":")[0] + ":"
    if not written.startswith(prefix * 2):
        return None
    match node:
        case cst.FormattedString(
            parts=[cst.FormattedStringText(value=text), cst.FormattedStringExpression(format_spec=None) as inner]
        ) if text == prefix:
            return replace_node(region, node, region.code(inner.expression))
        case cst.BinaryOperation(left=cst.SimpleString() as string, right=right) if string.evaluated_value == prefix:
            return replace_node(region, node, region.code(right))
    return None


def _cuda_call(region: NodeRegion, node: cst.CSTNode) -> cst.Call | None:
    """Return the call `x.cuda(node)` if `node` is the only argument of such a call; otherwise None."""
    argument = region.parent(node)
    call = region.parent(argument) if isinstance(argument, cst.Arg) else None
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "cuda":
        return call if len(call.args) == 1 else None
    return None


def _literal_edits(region: NodeRegion, node: cst.CSTNode, written: str, correction: str) -> Iterator[Edit]:
    """Yield the edits that correct the string literals with the invalid device.

    These are the literals within `node` and, if `node` is a variable, the literals that the file assigns to that
    variable.
    """
    for one in (node, *descend(node)):
        if isinstance(one, cst.SimpleString) and one.evaluated_value == written:
            yield _literal_edit(region, one, correction)
    if isinstance(node, cst.Name):
        for unit in region.context.index.statements:
            if node.value in unit.binds or node.value in unit.mentions:
                other = region.context.statement_region(unit)
                for one in descend(unit.tree):
                    match one:
                        case cst.Assign(
                            targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.SimpleString() as string
                        ) if name == node.value and string.evaluated_value == written:
                            yield _literal_edit(other, string, correction)


def _literal_edit(region: NodeRegion, string: cst.SimpleString, correction: str) -> Edit:
    """Return the edit that replaces the content of a string literal by `correction` and keeps the quotes."""
    return replace_node(region, string, f"{string.quote}{correction}{string.quote}")
