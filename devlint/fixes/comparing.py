"""Comparisons of devices that mean something: by type, or with another device."""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.fixes.edits import method, replace, wrap
from devlint.fixes.imports import full_name, spell
from devlint.fixes.sheet import NodeRegion, NoFix


def compare_values(part: NodeRegion, node: cst.CSTNode) -> Fix:
    """`is` becomes `==`."""
    comparison = _single(node)
    operator = comparison.comparisons[0].operator
    equal = "==" if isinstance(operator, cst.Is) else "!="
    return Fix(f"Compare with `{equal}`", Applicability.UNSAFE, (part.sheet.edit(*part.span(operator), equal),))


def compare_with_text(part: NodeRegion, node: cst.CSTNode, written: str) -> Fix:
    """`x.device == "cuda"` becomes `x.device.type == "cuda"`; a string with an index becomes a device."""
    comparison = _single(node)
    sides = (comparison.left, comparison.comparisons[0].comparator)
    string = next((one for one in sides if isinstance(one, cst.SimpleString) and one.evaluated_value == written), None)
    if string is None:
        raise NoFix
    if ":" in written:
        device, imported = spell(part, node, "torch.device")
        edits: tuple[Edit, ...] = (*imported, *wrap(part, string, f"{device}(", ")"))
        return Fix("Compare with a device", Applicability.UNSAFE, edits)
    other = sides[1] if string is sides[0] else sides[0]
    return Fix("Compare the type", Applicability.UNSAFE, method(part, other, ".type"))


def compare_types(part: NodeRegion, node: cst.CSTNode) -> Fix:
    """`x.device == torch.device("cuda")` becomes `x.device.type == "cuda"`, any other device its `.type`."""
    comparison = _single(node)
    edits: list[Edit] = []
    for side in (comparison.left, comparison.comparisons[0].comparator):
        match side:
            case cst.Call(func=function, args=[cst.Arg(value=cst.SimpleString() as string)]) if (
                full_name(part, function) == "torch.device"
            ):
                edits.append(replace(part, side, part.code(string)))
            case _:
                edits += method(part, side, ".type")
    return Fix("Compare the types", Applicability.UNSAFE, tuple(edits))


def _single(node: cst.CSTNode) -> cst.Comparison:
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return node
    raise NoFix
