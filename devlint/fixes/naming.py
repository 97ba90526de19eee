"""Devices that cannot exist, spelled as they were probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import replace
from devlint.fixes.sheet import NodeRegion, NoFix
from devlint.syntax.tree_walk import descend

MEANT = re.compile(r"(?i)\s*(gpu|cuda|nvidia)[\s:_-]*(\d*)\s*")


def meant(written: str) -> str | None:
    """The device that was probably meant: `cuda:0` for `gpu0`."""
    match = MEANT.fullmatch(written)
    if match is None:
        return None
    return f"cuda:{int(match[2])}" if match[2] else "cuda"


def respell(part: NodeRegion, node: cst.CSTNode, written: str) -> Fix:
    """A string that names no device is replaced where it stands, or where the variable at hand gets it."""
    doubled = [edit for one in (node, *descend(node)) if (edit := _inner(part, one, written)) is not None]
    if len(doubled) == 1:
        return Fix("Leave out the doubled prefix", Applicability.UNSAFE, (doubled[0],))
    call = _cuda_call(part, node)
    if call is not None and isinstance(call.func, cst.Attribute) and written.startswith("cpu"):
        start, _ = part.span(call.func.attr)
        edit = part.sheet.edit(start, part.span(call)[1], "cpu()")
        return Fix("Call `.cpu()`", Applicability.UNSAFE, (edit,))
    instead = meant(written)
    if instead is None:
        raise NoFix
    edits = tuple(_strings(part, node, written, instead))
    if len(edits) != 1:
        raise NoFix
    return Fix(f'Write "{instead}"', Applicability.UNSAFE, edits)


def _inner(part: NodeRegion, node: cst.CSTNode, written: str) -> Edit | None:
    """What is put behind a prefix that it has already: `f"cuda:{device}"` where `device` is "cuda:0"."""
    prefix = written.partition(":")[0] + ":"
    if not written.startswith(prefix * 2):
        return None
    match node:
        case cst.FormattedString(
            parts=[cst.FormattedStringText(value=text), cst.FormattedStringExpression(format_spec=None) as inner]
        ) if text == prefix:
            return replace(part, node, part.code(inner.expression))
        case cst.BinaryOperation(left=cst.SimpleString() as string, right=right) if string.evaluated_value == prefix:
            return replace(part, node, part.code(right))
    return None


def _cuda_call(part: NodeRegion, node: cst.CSTNode) -> cst.Call | None:
    argument = part.parent(node)
    call = part.parent(argument) if isinstance(argument, cst.Arg) else None
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value == "cuda":
        return call if len(call.args) == 1 else None
    return None


def _strings(part: NodeRegion, node: cst.CSTNode, written: str, instead: str) -> Iterator[Edit]:
    """The strings to be changed: those that stand there, or those that the file assigns to the name there."""
    for one in (node, *descend(node)):
        if isinstance(one, cst.SimpleString) and one.evaluated_value == written:
            yield _respelled(part, one, instead)
    if isinstance(node, cst.Name):
        for unit in part.sheet.index.statements:
            if node.value in unit.binds or node.value in unit.mentions:
                other = part.sheet.of(unit)
                for one in descend(unit.tree):
                    match one:
                        case cst.Assign(
                            targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.SimpleString() as string
                        ) if name == node.value and string.evaluated_value == written:
                            yield _respelled(other, string, instead)


def _respelled(part: NodeRegion, string: cst.SimpleString, instead: str) -> Edit:
    return replace(part, string, f"{string.quote}{instead}{string.quote}")
