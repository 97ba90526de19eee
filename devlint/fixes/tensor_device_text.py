"""Expressions for the device of a tensor that are valid where a fix inserts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from devlint.domain.placement import DeviceExpression, Placement
from devlint.explain.conflict_texts import device_source
from devlint.fixes.fix_context import NoFix
from devlint.interpreter.state.events import DeviceConflict, Operand
from devlint.syntax.tree_walk import descend


def find_device_expression(
    wordings: Iterable[DeviceExpression], placement: Placement, without: Sequence[str] = ()
) -> str | None:
    """Return the source of the first device expression that denotes a placement; None if there is no such expression.

    An expression that is the device of a name in `without` is skipped.
    """
    for wording in wordings:
        if wording.text.removesuffix(".device") not in without and wording.is_device_of(placement):
            return wording.text
    return None


def device_at_conflict(event: DeviceConflict, operand: Operand, without: Sequence[str] = ()) -> str:
    """Return an expression for the device of an operand, valid where its conflict is reported.

    An expression that is not the device of a tensor comes first, then `operand.device`, then any other. Expressions in
    `without` are skipped. Raises NoFix when the code at that place has no expression for the device.
    """
    placement = operand.tensor.placement
    told = find_device_expression((one for one in event.device_expressions if not one.of_tensor), placement, without)
    if told is not None:
        return told
    node = operand.place.node
    if (
        operand.of_module is None
        and not operand.inside
        and isinstance(node, cst.BaseExpression)
        and is_repeatable(node)
    ):
        text = cst.Module([]).code_for_node(node)
        if "\n" not in text and text not in without:
            return f"{text}.device"
    told = find_device_expression(event.device_expressions, placement, without) or device_source(event, operand)
    if told is None:
        raise NoFix
    return told


def is_repeatable(node: object) -> bool:
    """Return whether repeating an expression computes nothing anew: a name, an attribute or an entry, without calls."""
    if not isinstance(node, (cst.Name, cst.Attribute, cst.Subscript)):
        return False
    return not any(isinstance(one, (cst.Call, cst.Await, cst.NamedExpr)) for one in descend(node))
