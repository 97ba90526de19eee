"""Fixes for comparisons of devices whose result is always the same.

The fixed code compares the device types, compares with a `torch.device`, or compares by value instead of identity.
"""

from __future__ import annotations

import libcst as cst

from devlint.diagnostic import Applicability, Edit, Fix
from devlint.domain.device import DEVICE_TYPES
from devlint.fixes.device_spelling import probable_device
from devlint.fixes.edits import append_call, replace_node, wrap_node
from devlint.fixes.fix_context import NodeRegion, NoFix
from devlint.fixes.import_edits import full_name, write_library_name


def compare_values(region: NodeRegion, node: cst.CSTNode) -> Fix:
    """Return a fix that compares two devices by value, not identity: `is` becomes `==`, and `is not` becomes `!=`."""
    comparison = _single_comparison(node)
    operator = comparison.comparisons[0].operator
    equal = "==" if isinstance(operator, cst.Is) else "!="
    return Fix(f"Compare with `{equal}`", Applicability.UNSAFE, (region.context.edit(*region.span(operator), equal),))


def compare_with_string(region: NodeRegion, node: cst.CSTNode, written: str) -> Fix:
    """Return a fix for a comparison between a device and a string, which are never equal.

    `x.device == "cuda"` becomes `x.device.type == "cuda"`. A string with a device index, such as `"cuda:0"`, is wrapped
    in `torch.device(...)` instead.
    """
    comparison = _single_comparison(node)
    sides = (comparison.left, comparison.comparisons[0].comparator)
    string = next((one for one in sides if isinstance(one, cst.SimpleString) and one.evaluated_value == written), None)
    if string is None:
        raise NoFix
    if ":" in written:
        device, imported = write_library_name(region, node, "torch.device")
        edits: tuple[Edit, ...] = (*imported, *wrap_node(region, string, f"{device}(", ")"))
        return Fix(f'Compare with `torch.device("{written}")`', Applicability.UNSAFE, edits)
    other = sides[1] if string is sides[0] else sides[0]
    edits = append_call(region, other, ".type")
    meant = written if written in DEVICE_TYPES else probable_device(written)
    if meant is not None and meant != written:
        edits = (*edits, replace_node(region, string, f'"{meant}"'))
    return Fix("Compare the type", Applicability.UNSAFE, edits)


def compare_types(region: NodeRegion, node: cst.CSTNode) -> Fix:
    """Return a fix that compares two devices by type.

    `x.device == torch.device("cuda")` becomes `x.device.type == "cuda"`. An operand other than `torch.device("...")`
    gets `.type` appended.
    """
    comparison = _single_comparison(node)
    edits: list[Edit] = []
    for side in (comparison.left, comparison.comparisons[0].comparator):
        match side:
            case cst.Call(func=function, args=[cst.Arg(value=cst.SimpleString() as string)]) if (
                full_name(region, function) == "torch.device"
            ):
                edits.append(replace_node(region, side, region.code(string)))
            case _:
                edits += append_call(region, side, ".type")
    return Fix("Compare the types", Applicability.UNSAFE, tuple(edits))


def _single_comparison(node: cst.CSTNode) -> cst.Comparison:
    """Return the given node if it is a comparison with one operator.

    Raises NoFix for any other node, such as `a == b == c`.
    """
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return node
    raise NoFix
